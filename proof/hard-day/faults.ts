import { setTimeout as delay } from 'node:timers/promises';
import type { Engine, Engines } from './engines.ts';
import type { Process, System } from './system.ts';

/** Fault that ends. */
export interface Fault {
  /** Kind such as `kill`, by which times of recovery are compared. */
  readonly kind: string;
  readonly target: string;
  /** Resolves when the fault is over; the system recovers from then on. */
  run(): Promise<void>;
}

/** Durations of faults. */
export interface Durations {
  readonly awayMs: number;
  readonly frozenMs: number;
  readonly slowMs: number;
  readonly fullMs: number;
}

/** Faults of each process, each engine and each disk. */
export function faultsOf(system: System, engines: Engines, durations: Durations): Fault[] {
  const { postgres, nats, s3, mail, certificate, dataDisk } = engines;
  return [
    ...system.processes.flatMap((process) => processFaults(process, durations)),
    ...(postgres ? engineFaults('PostgreSQL', postgres, durations) : []),
    // JetStream stays off after a full disk, until its server is started again.
    ...(nats ? engineFaults('NATS', nats, { ...durations, endsWhenFull: true }) : []),
    ...(nats ? [fault('comes back empty', 'NATS', () => nats.server.replace())] : []),
    ...(s3 ? engineFaults('S3', s3, durations) : []),
    fault(
      'cut off',
      'mail server',
      during(
        durations.awayMs,
        () => mail.gate.cut(),
        () => mail.gate.open(),
      ),
    ),
    fault(
      'freeze',
      'mail server',
      during(
        durations.frozenMs,
        () => mail.gate.freeze(),
        () => mail.gate.thaw(),
      ),
    ),
    ...(certificate
      ? [
          fault(
            'end',
            'certificate',
            during(
              durations.slowMs,
              () => certificate.end(),
              () => certificate.renew(),
            ),
          ),
        ]
      : []),
    ...(dataDisk
      ? [
          fault(
            'fill',
            'disk of the services',
            during(
              durations.fullMs,
              () => dataDisk.fill(),
              () => dataDisk.free(),
            ),
          ),
        ]
      : []),
  ];
}

/** SIGKILL of a process, which its supervisor starts again after a while. */
export function killOf(process: Process, { awayMs }: Durations): Fault {
  return fault('kill', process.label, async () => {
    await process.kill();
    await delay(awayMs);
    process.start();
  });
}

function processFaults(process: Process, durations: Durations): Fault[] {
  const freeze = during(
    durations.frozenMs,
    () => process.freeze(),
    () => process.thaw(),
  );
  return [
    killOf(process, durations),
    fault('freeze', process.label, freeze),
    fault('restart', process.label, async () => {
      await process.stop();
      process.start();
    }),
  ];
}

interface Server {
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  revive(): Promise<void>;
}

/** Delay of each piece through a slow connection. */
const lagMs = 60;

function engineFaults(
  name: string,
  engine: Engine<Server>,
  { endsWhenFull = false, ...durations }: Durations & { readonly endsWhenFull?: boolean },
): Fault[] {
  const { server, gate, disk } = engine;
  const fill = disk
    ? async () => {
        disk.fill();
        await delay(durations.fullMs);
        disk.free();
        if (endsWhenFull) await server.kill();
        // A server that ended for want of space is started again.
        await server.revive();
      }
    : undefined;
  return [
    fault('kill', name, async () => {
      await server.kill();
      await delay(durations.awayMs);
      await server.revive();
    }),
    fault(
      'freeze',
      name,
      during(
        durations.frozenMs,
        () => server.freeze(),
        () => server.thaw(),
      ),
    ),
    fault(
      'slow',
      name,
      during(
        durations.slowMs,
        () => gate.slow(lagMs),
        () => gate.slow(0),
      ),
    ),
    ...(fill ? [fault('fill', name, fill)] : []),
  ];
}

function during(lastsMs: number, begin: () => void, end: () => void): () => Promise<void> {
  return async () => {
    begin();
    await delay(lastsMs);
    end();
  };
}

function fault(kind: string, target: string, run: () => Promise<void>): Fault {
  return { kind, target, run };
}
