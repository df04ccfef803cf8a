/** The values of the controls of a page, as a browser would send them. */
export function fieldsOf(html: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [tag] of html.matchAll(/<input [^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(tag)?.[1];
    const isUnchecked = /type="checkbox"/.test(tag) && !/ checked/.test(tag);
    if (name && !isUnchecked) fields[name] = unescaped(/value="([^"]*)"/.exec(tag)?.[1] ?? '');
  }
  for (const [, name = '', options = ''] of html.matchAll(
    /<select [^>]*name="([^"]*)"[^>]*>([\s\S]*?)<\/select>/g,
  ))
    fields[name] = unescaped(
      /value="([^"]*)" selected/.exec(options)?.[1] ?? /value="([^"]*)"/.exec(options)?.[1] ?? '',
    );
  for (const [, name = '', text = ''] of html.matchAll(
    /<textarea [^>]*name="([^"]*)"[^>]*>\n?([\s\S]*?)<\/textarea>/g,
  ))
    fields[name] = unescaped(text);
  return fields;
}

/** Text without character references. */
export function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** The texts of the first column of a list. */
export function titlesIn(html: string): string[] {
  return [...html.matchAll(/<td class="main"><a[^>]*>([^<]*)</g)].map(([, title = '']) => unescaped(title));
}
