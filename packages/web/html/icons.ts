import { type Html, html, trustedHtml } from './html.ts';

export type IconName = keyof typeof shapes;

/** A 16 px line icon in the color of the text around it. Screen readers ignore it, so say what it means in words. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">${trustedHtml(shapes[name])}</svg>`;
}

const shapes = {
  again: '<path d="M13 8a5 5 0 1 1-1.6-3.7L13 5.7M13 2.5v3.2H9.8"/>',
  alert: '<path d="M8 2 1.5 13.5h13zM8 6.5v3M8 11.5v.01"/>',
  bell: '<path d="M4 11V7a4 4 0 0 1 8 0v4l1.2 1.5H2.8zM6.5 14h3"/>',
  book: '<path d="M8 4C6.6 3 4.6 2.8 2.5 3v9.5c2.1-.2 4.1 0 5.5 1 1.4-1 3.4-1.2 5.5-1V3c-2.1-.2-4.1 0-5.5 1zm0 0v9.5"/>',
  box: '<path d="m8 2 5.5 3v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6"/>',
  calendar:
    '<rect x="2.5" y="3.5" width="11" height="10" rx="1.5"/><path d="M2.5 6.5h11M5.5 2v2.5M10.5 2v2.5"/>',
  check: '<path d="m3 8.5 3.2 3.2L13 5"/>',
  chart: '<path d="M2.5 13.5h11M4.5 13.5V8M8 13.5v-11M11.5 13.5V6"/>',
  close: '<path d="m4 4 8 8M12 4l-8 8"/>',
  comment: '<path d="M2.5 3.5h11v8H8l-3 2.5v-2.5H2.5z"/>',
  down: '<path d="m4 6 4 4 4-4"/>',
  edit: '<path d="M10.5 3 13 5.5l-7 7-3.2.7.7-3.2zM9 4.5 11.5 7"/>',
  grid: '<path d="M3 3h3.5v3.5H3zM9.5 3H13v3.5H9.5zM3 9.5h3.5V13H3zM9.5 9.5H13V13H9.5z"/>',
  flag: '<path d="M3.5 14V2.5h8l-1.5 3 1.5 3h-8"/>',
  heart: '<path d="M8 13.5 2.9 8.3a3.2 3.2 0 0 1 4.6-4.5l.5.5.5-.5a3.2 3.2 0 0 1 4.6 4.5z"/>',
  info: '<circle cx="8" cy="8" r="6"/><path d="M8 7.5V11M8 5v.01"/>',
  inbox: '<path d="M2 9.5 4 3h8l2 6.5v3.5H2zM2 9.5h3.5l1 2h3l1-2H14"/>',
  list: '<path d="M2.5 4h11M2.5 8h11M2.5 12h7"/>',
  lock: '<rect x="3" y="7" width="10" height="7" rx="1.5"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>',
  menu: '<path d="M2.5 4h11M2.5 8h11M2.5 12h11"/>',
  link: '<path d="M6.5 9.5a2.8 2.8 0 0 0 4 0l2.3-2.3a2.8 2.8 0 0 0-4-4L7.7 4.3M9.5 6.5a2.8 2.8 0 0 0-4 0L3.2 8.8a2.8 2.8 0 0 0 4 4l1.1-1.1"/>',
  more: '<path d="M3.5 8v.01M8 8v.01M12.5 8v.01" stroke-width="2.4"/>',
  moon: '<path d="M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z"/>',
  out: '<path d="M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6"/>',
  plus: '<path d="M8 3v10M3 8h10"/>',
  pulse: '<path d="M1.5 8.5h3l2-5 3 9 2-4h3"/>',
  screen: '<rect x="1.5" y="2.5" width="13" height="9" rx="1.5"/><path d="M5.5 14h5"/>',
  search: '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/>',
  smile: '<circle cx="8" cy="8" r="6"/><path d="M5.5 9.5a3 3 0 0 0 5 0M6 6.2v.01M10 6.2v.01"/>',
  settings:
    '<path d="M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6"/><circle cx="10" cy="5" r="1.5"/><circle cx="6" cy="11" r="1.5"/>',
  sun: '<circle cx="8" cy="8" r="3"/><path d="M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1"/>',
  trash: '<path d="M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9M6.7 7v4M9.3 7v4"/>',
  wallet: '<path d="M2.5 4.5v8h11v-7h-10a1 1 0 0 1 0-2h8.5v2M11 9v.01"/>',
  thumbDown:
    '<g transform="rotate(180 8 8)"><path d="M2.5 7.5H5v6H2.5zM5 7.5l2.6-5c1.2 0 1.9.9 1.6 2l-.6 2h3.6c1 0 1.6.9 1.4 1.8l-1 4c-.2.7-.8 1.2-1.5 1.2H5"/></g>',
  thumbUp:
    '<path d="M2.5 7.5H5v6H2.5zM5 7.5l2.6-5c1.2 0 1.9.9 1.6 2l-.6 2h3.6c1 0 1.6.9 1.4 1.8l-1 4c-.2.7-.8 1.2-1.5 1.2H5"/>',
  up: '<path d="m4 10 4-4 4 4"/>',
  users:
    '<circle cx="6" cy="5.5" r="2.5"/><path d="M1.5 13.5a4.5 4.5 0 0 1 9 0M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.6a4.5 4.5 0 0 1 2.5 3.9"/>',
  upload: '<path d="M8 10.5v-8M4.5 6 8 2.5 11.5 6M2.5 10.5v3h11v-3"/>',
};
