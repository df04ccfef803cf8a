export { commentSection } from './views.ts';
