import { text } from './config.ts';

/** Settings that several services have, declared once. A service lists those that it reads among its own. */
export const sharedSettings = {
  DATABASE_URL: text({
    secret: true,
    help: 'PostgreSQL server for all data. By default data is in SQLite files',
  }),
  RPC_TOKEN: text({
    secret: true,
    help: 'Shared secret between the services; required in production off loopback',
  }),
  TRUST_PROXY: text({
    help: 'Proxies whose X-Forwarded-For counts: a number of hops, or addresses and networks separated by commas',
  }),
};
