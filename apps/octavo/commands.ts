/** A command of `octavo`: its usage, its summary, and its code, which is loaded only when it runs. */
export interface Command {
  readonly usage: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, string>>;
  load(): Promise<{ run(args: string[]): Promise<number> }>;
}

/** Options of every command, by the setting that each stands for. */
export const sharedOptions = {
  data: {
    setting: 'OCTAVO_DATA',
    usage: '--data DIR',
    help: 'folder for databases, files and secrets (OCTAVO_DATA, default ./data)',
  },
  port: {
    setting: 'PORT',
    usage: '--port N',
    help: 'port to listen on; several services use it as base and the ports above it (PORT, default 3000; 0 picks free ports)',
  },
} as const;

export const commands: Readonly<Record<string, Command>> = {
  up: {
    usage: 'octavo up [--host HOST] [--config FILE]',
    summary: 'run all services on embedded parts with demo accounts, and print their addresses',
    options: {
      '--host HOST': 'address to listen on (HOST, default 127.0.0.1)',
      '--config FILE': 'configuration file of passwordless, TOML or JSON (CONFIG_PATH)',
    },
    load: () => import('./commands/up.ts'),
  },
  serve: {
    usage: 'octavo serve NAME... [--workers N] [--config FILE]',
    summary: 'run the named services in the foreground',
    options: {
      '--workers N': 'number of processes that share the port (default 1)',
      '--config FILE': 'configuration file of passwordless, TOML or JSON (CONFIG_PATH)',
    },
    load: () => import('./commands/serve.ts'),
  },
  embed: {
    usage: 'octavo embed [--host HOST]',
    summary: 'serve the sentence encoder of this machine with the embeddings API of OpenAI',
    options: { '--host HOST': 'address to listen on (HOST, default 127.0.0.1)' },
    load: () => import('./commands/embed.ts'),
  },
  seed: {
    usage: 'octavo seed [NAME...] [--count N] [--force]',
    summary: 'load realistic demo data into services that hold no data of your own',
    options: {
      '--count N': 'how many posts (default 5000); other services have a fixed amount',
      '--force': 'add it beside data of your own too; nothing is overwritten',
    },
    load: () => import('./commands/data/seed.ts'),
  },
  import: {
    usage: 'octavo import NAME FILE [--kind KIND] [--decimal SIGN] [--replace]',
    summary: 'read your own data into a service, all or nothing; same ids and slugs are overwritten',
    options: {
      '--kind KIND': 'what a CSV file holds; for portfolio team, investments or sectors',
      '--decimal SIGN': 'how amounts are written where the file allows both: . for 1,234.50, or a comma',
      '--replace': 'remove everything else that the service holds',
    },
    load: () => import('./commands/data/import.ts'),
  },
  migrate: {
    usage: 'octavo migrate [NAME...]',
    summary: 'migrate databases to the schema of this version, without serving',
    options: {},
    load: () => import('./commands/data/migrate.ts'),
  },
  backup: {
    usage: 'octavo backup FILE',
    summary:
      'write SQLite databases, generated secrets and stored objects to one file, while services go on; print the commands for PostgreSQL',
    options: {},
    load: () => import('./commands/data/backup.ts'),
  },
  restore: {
    usage: 'octavo restore FILE [--force]',
    summary: 'bring databases, secrets and objects back from a backup; services must be stopped',
    options: {
      '--force':
        'replace databases that hold data, and other secrets; what these signed or encrypted is lost',
    },
    load: () => import('./commands/data/restore.ts'),
  },
  move: {
    usage: 'octavo move --to URL|FOLDER [--objects PLACE] [--secrets FILE] [--replace-nul] [--force]',
    summary:
      'copy all data from SQLite to PostgreSQL, or from the database of DATABASE_URL to files, and compare both; services must be stopped',
    options: {
      '--to URL|FOLDER': 'postgres://user:password@host/database, or a folder for SQLite files',
      '--objects PLACE': 'copy stored exports to a folder, or to a bucket as s3://NAME with the S3_ settings',
      '--secrets FILE': 'write the secrets of the data folder as settings, for other machines',
      '--replace-nul': 'put U+FFFD in the place of U+0000 in texts, which PostgreSQL refuses',
      '--force': 'replace databases that hold other data',
    },
    load: () => import('./commands/data/move.ts'),
  },
  accounts: {
    usage: 'octavo accounts add|passwd|role|disable|enable|list [USERNAME] [ROLE]',
    summary: "manage the gateway's accounts; passwords are read from standard input",
    options: { '--role ROLE': 'admin, editor or viewer, as an alternative to naming it last' },
    load: async () => ({ run: (await import('./commands/authz.ts')).accounts }),
  },
  admin: {
    usage: 'octavo admin create|password SERVICE NAME',
    summary:
      'create an administrator of a service, or set the password of an account; it is read from ADMIN_PASSWORD, a prompt, or standard input',
    options: {},
    load: () => import('./commands/admin.ts'),
  },
  export: {
    usage: 'octavo export polls ID [--votes]',
    summary: 'write the results of a poll to standard output as CSV',
    options: { '--votes': 'every vote with its time, instead of a line for each choice' },
    load: () => import('./commands/data/export.ts'),
  },
  jobs: {
    usage: 'octavo jobs list [--limit N] | retry ID',
    summary: 'list the jobs of posts that failed permanently, newest first, or retry one',
    options: { '--limit N': 'how many (default 50)' },
    load: () => import('./commands/jobs.ts'),
  },
  queue: {
    usage: 'octavo queue list|retry|purge [ID] [--status STATUS] [--limit N]',
    summary: 'list the e-mail queue of passwordless, retry waiting e-mail now, or remove finished e-mail',
    options: {
      '--status STATUS': 'pending, sending, sent or failed (list: all; purge: sent and failed)',
      '--limit N': 'how many to list, newest first (default 50)',
    },
    load: () => import('./commands/sign-in/queue.ts'),
  },
  clients: {
    usage: 'octavo clients add NAME --redirect URL | list | remove NAME',
    summary: 'manage the applications that sign people in at passwordless by OpenID Connect',
    options: {
      '--redirect URL': 'address that a sign-in returns to; may be repeated',
      '--post-logout URL': 'address that a sign-out returns to; may be repeated',
      '--back-channel URL': 'address that is told when a user signs out',
      '--audience URL':
        'address of its own API, of no other application (default: the origin of the redirect address)',
      '--first-party': 'an application of yours: its users are not asked for their consent',
      '--public': 'an application without a secret, such as one that runs in the browser',
    },
    load: async () => ({ run: (await import('./commands/sign-in/clients.ts')).clients }),
  },
  client: {
    usage: 'octavo client NAME [--url URL] [--out FILE]',
    summary: "write the TypeScript types of a service's API, for use with openapi-fetch",
    options: {
      '--url URL': 'address of a running service (default: the API of this version)',
      '--out FILE': 'file to write, such as posts.d.ts (default: standard output)',
    },
    load: () => import('./commands/client.ts'),
  },
  roles: {
    usage: 'octavo roles grant|revoke|list [EMAIL] [ROLE] [--service NAME]',
    summary:
      'manage the roles that applications get from passwordless; admin is staff in all services of the suite',
    options: {
      '--service NAME':
        'for this application only; services of the suite know admin, editor and viewer, others any role',
    },
    load: async () => ({ run: (await import('./commands/sign-in/clients.ts')).roles }),
  },
  chat: {
    usage: 'octavo chat eval PATH [--rerank] [--json] | sync DIR [--watch] [--url URL]',
    summary:
      'measure how well the chat finds the right documents for labelled questions, or give its library the files of a folder',
    options: {
      '--rerank': 'eval: let the server of RERANK_BASE_URL order the passages too',
      '--json': 'eval: print JSON instead of a table',
      '--watch': 'sync: go on and send what changes, until it is stopped',
      '--url URL': 'sync: address of the chat (default http://localhost:3007); its key is CHAT_API_KEY',
      '--collection NAME': 'sync: tag of the documents (default: the name of the folder)',
      '--visibility WHO': 'sync: private or everyone (default: what the chat does without it)',
    },
    load: () => import('./commands/chat/chat.ts'),
  },
  policy: {
    usage: 'octavo policy test FILE',
    summary: 'run a table of cases against the access policies',
    options: {},
    load: async () => ({ run: (await import('./commands/authz.ts')).policy }),
  },
  config: {
    usage: 'octavo config [NAME...]',
    summary: 'list every setting with its value, default and meaning; secrets are hidden',
    options: { '--example': 'print a .env.example instead' },
    load: () => import('./commands/config.ts'),
  },
  doctor: {
    usage: 'octavo doctor [NAME...]',
    summary:
      'find common mistakes in this machine and these settings, and say what mends each; exits with 1 if there are any',
    options: {},
    load: () => import('./commands/doctor/doctor.ts'),
  },
};
