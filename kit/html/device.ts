const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/Windows/, 'Windows'],
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

/** A browser and its system as people say them, from a `User-Agent`: "Firefox on Linux", else the program's own first word. */
export function deviceOf(userAgent: string): string {
  const nameIn = (names: typeof browsers) => names.find(([sign]) => sign.test(userAgent))?.[1];
  const browser = nameIn(browsers);
  const system = nameIn(systems);
  if (browser) return system ? `${browser} on ${system}` : browser;
  return userAgent.split(/[\s/]/, 1)[0] || 'Unknown device';
}
