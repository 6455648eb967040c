/** What mends it, for whoever reads of it in the middle of a sentence. */
export const RAISE_DESCRIPTORS = 'raise the limit of file descriptors (`ulimit -n 4096`)';

/** Whether the system refused to open one more file, socket or pipe: no fault of ours. */
export function isDescriptorError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'EMFILE' || error.code === 'ENFILE';
}
