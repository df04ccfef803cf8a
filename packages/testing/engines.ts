/** Engines that tests start, or use where they run. */
export { buf, bufFile, bufSkip } from './buf.ts';
export { natsIsMissing, startNats, startTestNats, type TestNats } from './nats.ts';
export { pgbouncerIsMissing, startPgbouncer } from './pgbouncer.ts';
export { startEmbeddedPostgres, type TestPostgres, testDatabaseUrl, whenBlocked } from './postgres.ts';
export { prometheusIsMissing, startPrometheus } from './prometheus.ts';
export { type Balancer, type Gate, openGate, proxyHeaders, startBalancer, startGate } from './proxies.ts';
export { startS3, startStrictTestS3, startTestS3, type TestS3 } from './s3.ts';
export { mountDisk, mountingIsForbidden, mountSmallDisk, type SmallDisk } from './small-disk.ts';
export { type Caught, type SinkOptions, type SmtpSink, startSmtpSink } from './smtp-sink.ts';
export { smtpdMissing, startTestSmtpd } from './smtpd.ts';
