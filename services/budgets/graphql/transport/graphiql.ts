import { readFile } from 'node:fs/promises';
import { notFound } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { apiTokenPath, securityHeaders } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';

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

const start = `const response = await fetch('${apiTokenPath}', { headers: { accept: 'application/json' } });
const { token } = response.ok ? await response.json() : {};
const fetcher = GraphiQL.createFetcher({ url: '/api/graphql' });
ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, {
    fetcher,
    defaultHeaders: JSON.stringify({ authorization: 'Bearer ' + (token ?? 'PASTE A TOKEN OF /api/auth/login') }, null, 2),
    defaultQuery: '{ budgets { id name limit createdAt } }',
  }),
);
`;

const style = `html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; }
#graphiql { flex: 1; min-height: 0; }
`;

const page = {
  styles: [`${folder}graphiql.css`, `${folder}page.css`],
  body: `<div id="graphiql"></div>
${['react.js', 'react-dom.js', 'graphiql.js'].map((name) => `<script src="${folder}${name}"></script>`).join('\n')}
<script type="module" src="${folder}start.js"></script>`,
};

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
    reply.type('text/css; charset=utf-8').send(style),
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
      const { request } = reply;
      reply.type('text/html; charset=utf-8').headers(securityHeaders.tool);
      return reply.send(request.server.toolPage(request, page));
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
