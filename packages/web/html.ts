/** HTML: templates that escape, layout, components. */
export {
  badge,
  card,
  empty,
  facts,
  linkButton,
  menu,
  notice,
  progress,
  stats,
  type Tone,
  viewLinks,
} from './html/components/blocks.ts';
export { barChart, columnChart, lineChart, meter, type Point, shareChart } from './html/components/charts.ts';
export { confirm } from './html/components/confirm.ts';
export { deviceOf } from './html/components/device.ts';
export { filters } from './html/components/filters.ts';
export {
  checkbox,
  checkboxes,
  choiceGroup,
  errorSummary,
  type FieldOptions,
  field,
  timeZoneField,
} from './html/components/form.ts';
export { type FormProblem, formProblem, hasReason } from './html/components/form-problem.ts';
export { pageNumber, pager } from './html/components/pager.ts';
export { qrCode, qrCodeSvg } from './html/components/qr-code.ts';
export { type Part, type Stack, stackedChart } from './html/components/stacked-chart.ts';
export { type Column, rowMenu, type Selection, table } from './html/components/table.ts';
export { errorPage } from './html/error-page.ts';
export {
  count,
  formatBytes,
  formatDuration,
  formatNumber,
  formatPercent,
  time,
  truncate,
  withoutHalves,
} from './html/format.ts';
export { attributes, type Content, escapeHtml, Html, html } from './html/html.ts';
export { type IconName, icon } from './html/icons.ts';
export {
  bare,
  type Frame,
  iconLink,
  layout,
  type NavigationItem,
  type PageContent,
  type Sharing,
  type SiteFrame,
  single,
  site,
  standalone,
} from './html/layout.ts';
export { createSuite, type MarkAccent, type MarkIcon, mark, signInAddress } from './html/marks.ts';
export { kept, readerLocale, signsOf } from './html/reader-locale.ts';
