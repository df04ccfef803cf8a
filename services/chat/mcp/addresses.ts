/** Reads `name=address,name=address`. Throws an `Error` that starts with "must be". */
export function parseServers(text: string): Map<string, URL> {
  const servers = text.split(',').map((entry) => {
    const [, name = '', address = ''] = /^\s*([a-z][a-z0-9_]{0,19})=(\S+)\s*$/.exec(entry) ?? [];
    const url = URL.parse(address);
    if (!url || !/^https?:$/.test(url.protocol)) throw new Error('must be name=address, with commas between');
    return [name, url] as const;
  });
  return new Map(servers);
}
