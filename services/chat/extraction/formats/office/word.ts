import type { Extracted } from '../blocks.ts';
import { extractHtml } from '../html.ts';
import { checkOffice } from './archive.ts';
import { withoutHiddenText } from './word-hidden.ts';

export async function extractWord(bytes: Uint8Array): Promise<Extracted> {
  checkOffice(bytes);
  const { default: mammoth } = await import('mammoth');
  const skipImages = mammoth.images.imgElement(async () => ({ src: '' }));
  const seen = withoutHiddenText(bytes);
  const buffer = Buffer.from(seen.buffer, seen.byteOffset, seen.length);
  const { value } = await mammoth.convertToHtml({ buffer }, { convertImage: skipImages });
  return extractHtml(value);
}
