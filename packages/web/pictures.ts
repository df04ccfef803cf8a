/** Pictures drawn by PDFium. */
export { ink, type Picture, sharedSize, type TextBox } from './pictures/picture.ts';
export { Pictures } from './pictures/pictures.ts';
