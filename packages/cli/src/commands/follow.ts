import type { RunEvent, RunHandle } from '@squall/controller';
import { LiveView } from '../terminal/live-view.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Shows a run's events as they come. Returns the view, for what else there is to say meanwhile. */
export function followRun(handle: RunHandle, terminal: Terminal, quiet: boolean): LiveView {
  const view = new LiveView({
    screen: terminal.out,
    style: terminal.style,
    quiet,
    now: Date.now,
  });
  handle.onEvent((event) => showEvent(event, view));
  return view;
}

/** Shows one event. */
export function showEvent(event: RunEvent, view: LiveView): void {
  switch (event.type) {
    case 'state':
      if (event.state !== 'done') view.say(event.text);
      return;
    case 'stage':
      view.say(`stage ${event.name}${event.phase === 'prologue' ? ': connecting first' : ''}`);
      return;
    case 'warning':
      view.warn(event.text);
      return;
    case 'progress':
      view.progress(event.progress);
      return;
    case 'agent':
      // Losses and refusals come as warnings and in the report; the rest is routine.
      return;
    case 'done':
      view.end();
  }
}
