// Parts of the controller that its package does not show: benchmarks measure them by themselves.
const dist = (path) => new URL(`../packages/controller/dist/${path}`, import.meta.url).href;

export const { openStore } = await import(dist('store/sql/sql-store.js'));
export const { TimelineRecorder } = await import(dist('timeline/recorder.js'));
