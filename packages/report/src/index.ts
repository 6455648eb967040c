export {
  REPORT_FORMATS,
  type ReportFormat,
  type ReportFormatName,
} from './formats.ts';
export { CONTENT_SECURITY_POLICY } from './html/page.ts';
