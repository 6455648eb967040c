import type { XmlElement } from '../xml/parse-xml.ts';
import { type Scenario, timeMs } from './scenario.ts';

/** One command of a life cycle. */
type LifeStep =
  | { readonly kind: 'connect'; readonly element: XmlElement; readonly overMs: number }
  | { readonly kind: 'publish'; readonly element: XmlElement; readonly times: number }
  | { readonly kind: 'subscribe' | 'unsubscribe' | 'disconnect'; readonly element: XmlElement }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'receive'; readonly count: number };

export interface Life {
  readonly steps: readonly LifeStep[];
}

/** Reads what each client of a life cycle does, in order. */
export function readLifeCycle(lifeCycle: XmlElement, scenario: Scenario): Life {
  const steps: LifeStep[] = [];
  let overMs = 0;
  for (const element of lifeCycle.children) {
    const spread = spreadMs(element);
    if (spread === null) steps.push(...stepsOf(element, { overMs, times: 1 }, scenario));
    else overMs = spread;
    if (spread === null && overMs > 0 && element.name !== 'connect') {
      scenario.change(
        element,
        'the delay before it spread the clients; here their periods are spread evenly',
      );
    }
    if (spread === null) overMs = 0;
  }
  return { steps };
}

/** A ramp, or a delay that spreads the clients. */
function spreadMs({ name, attributes }: XmlElement): number | null {
  const ramp = name === 'rampUp' || (name === 'delay' && attributes['spread'] === 'linear');
  return ramp ? (timeMs(attributes['duration'] ?? '') ?? 0) : null;
}

function stepsOf(
  element: XmlElement,
  given: { readonly overMs: number; readonly times: number },
  scenario: Scenario,
): LifeStep[] {
  const { name } = element;
  if (name === 'connect') return [{ kind: name, element, overMs: given.overMs }];
  if (name === 'publish') return [{ kind: name, element, times: given.times }];
  if (name === 'subscribe' || name === 'unsubscribe') return [{ kind: name, element }];
  if (name === 'disconnect') return disconnect(element, scenario);
  if (name === 'wait' || name === 'delay') return waiting(element, scenario);
  if (name === 'receive') {
    scenario.change(
      element,
      'the stage ends when as many messages have come; their content and the time-out are not looked at',
    );
    return [
      { kind: 'receive', count: scenario.number(element, element.attributes['count'] ?? '1', 1) },
    ];
  }
  if (name === 'for') return repeated(element, scenario);
  scenario.lose(element, 'this command has no counterpart here');
  return [];
}

function disconnect(element: XmlElement, scenario: Scenario): LifeStep[] {
  const method = element.attributes['method'] ?? 'with-disconnect-message';
  if (method !== 'with-disconnect-message') {
    scenario.lose(element, `method ${method}: a DISCONNECT is sent`);
  }
  return [{ kind: 'disconnect', element }];
}

function waiting(element: XmlElement, scenario: Scenario): LifeStep[] {
  const ms = timeMs(element.attributes['duration'] ?? '');
  if (ms !== null) return ms === 0 ? [] : [{ kind: 'wait', ms }];
  scenario.change(
    element,
    'it waits for a message: the stage ends when each client has one; what is in it is not looked at',
  );
  return [{ kind: 'receive', count: 1 }];
}

/** A loop round one publish multiplies it; anything else is done once. */
function repeated(element: XmlElement, scenario: Scenario): LifeStep[] {
  const times = scenario.number(element, element.attributes['times'] ?? '1', 1);
  const [only, ...others] = element.children;
  if (only?.name === 'publish' && others.length === 0)
    return stepsOf(only, { overMs: 0, times }, scenario);
  scenario.lose(element, 'a loop round more than one publish: what is in it is done once');
  return element.children.flatMap((child) => stepsOf(child, { overMs: 0, times: 1 }, scenario));
}
