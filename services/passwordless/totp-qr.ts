import { renderSVG } from 'uqr';

/** A QR code as an SVG image. */
export function qrOf(text: string): string {
  return renderSVG(text, { border: 4, ecc: 'M' });
}
