import { readFile } from 'node:fs/promises';
import type { FastifyReply } from 'fastify';
import { notFound } from '#kit/base/errors.ts';
import { securityHeaders } from '#kit/http/responses/security-headers.ts';
import type { HttpApp } from '#kit/http/server.ts';

const folder = '/api/graphql/graphiql/';

interface PackageFile {
  readonly from: string;
  readonly path: string;
  readonly type: string;
}

/** Files of development packages; the page is not for production. */
const files: Readonly<Record<string, PackageFile>> = {
  'react.js': { from: 'react', path: 'umd/react.production.min.js', type: 'text/javascript' },
  'react-dom.js': { from: 'react-dom', path: 'umd/react-dom.production.min.js', type: 'text/javascript' },
  'graphiql.js': { from: 'graphiql', path: 'graphiql.min.js', type: 'text/javascript' },
  'graphiql.css': { from: 'graphiql', path: 'graphiql.min.css', type: 'text/css' },
};

const start = `const token = sessionStorage.getItem('token') ?? '';
const fetcher = GraphiQL.createFetcher({ url: '/api/graphql' });
ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, {
    fetcher,
    defaultHeaders: JSON.stringify({ authorization: 'Bearer ' + (token || 'PASTE A TOKEN OF /api/auth/login') }, null, 2),
    defaultQuery: '{ budgets { id name limit createdAt } }',
  }),
);
`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>GraphiQL</title>
<link rel="stylesheet" href="${folder}graphiql.css">
<link rel="stylesheet" href="${folder}page.css">
</head>
<body>
<div id="graphiql"></div>
<script src="${folder}react.js"></script>
<script src="${folder}react-dom.js"></script>
<script src="${folder}graphiql.js"></script>
<script src="${folder}start.js"></script>
</body>
</html>
`;

export interface Graphiql {
  send(reply: FastifyReply): FastifyReply;
}

/** Serves the files of GraphiQL, and returns what sends its page. */
export function addGraphiql(app: HttpApp): Graphiql {
  const hidden = { access: 'public', schema: { hide: true } } as const;
  app.get(`${folder}start.js`, hidden, (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(start),
  );
  app.get(`${folder}page.css`, hidden, (_request, reply) =>
    reply.type('text/css; charset=utf-8').send('html, body, #graphiql { height: 100%; margin: 0; }'),
  );
  for (const [name, file] of Object.entries(files)) {
    app.get(folder + name, hidden, async (_request, reply) =>
      reply
        .type(`${file.type}; charset=utf-8`)
        .header('cache-control', 'public, max-age=86400')
        .send(await readFile(urlOf(file))),
    );
  }
  return {
    send(reply) {
      // Without its packages the page would be blank.
      for (const file of Object.values(files)) urlOf(file);
      return reply.type('text/html; charset=utf-8').headers(securityHeaders.tool).send(page);
    },
  };
}

/** The packages export their manifest, but none of these files. */
function urlOf({ from, path }: PackageFile): URL {
  try {
    return new URL(path, import.meta.resolve(`${from}/package.json`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND')
      throw notFound('development package', from);
    throw error;
  }
}
