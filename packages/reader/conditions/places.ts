/** Made at the first question: loading the names of regions takes as long as loading twenty modules. */
let regions: Intl.DisplayNames | undefined;

/** The name of a country by its code; the code itself if it has none. */
export function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code;
  regions ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  return regions.of(code) ?? code;
}
