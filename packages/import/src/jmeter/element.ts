import type { XmlElement } from '../xml/parse-xml.ts';

/** An element of a JMeter plan with the hashTree that follows it. */
export class JmeterElement {
  readonly xml: XmlElement;
  readonly children: readonly JmeterElement[];
  readonly #properties = new Map<string, XmlElement>();

  constructor(xml: XmlElement, children: readonly JmeterElement[]) {
    this.xml = xml;
    this.children = children;
    for (const child of xml.children) {
      const name = propertyName(child);
      if (name !== undefined) this.#properties.set(name, child);
    }
  }

  /** Its Java class, by which it is known. */
  get className(): string {
    return this.xml.attributes['testclass'] ?? this.xml.name;
  }

  /** The class without its package. */
  get kind(): string {
    return this.className.split('.').at(-1) ?? '';
  }

  get line(): number {
    return this.xml.line;
  }

  get title(): string {
    return this.xml.attributes['testname'] ?? '';
  }

  /** For people: `PubSampler "telemetry"`. */
  get what(): string {
    return this.title === '' ? this.kind : `${this.kind} "${this.title}"`;
  }

  get enabled(): boolean {
    return this.xml.attributes['enabled'] !== 'false';
  }

  has(name: string): boolean {
    return this.#properties.has(name);
  }

  /** Names of its properties. */
  get names(): string[] {
    return [...this.#properties.keys()];
  }

  text(name: string, fallback = ''): string {
    const property = this.#properties.get(name);
    return property === undefined ? fallback : propertyText(property);
  }

  flag(name: string, fallback = false): boolean {
    const text = this.text(name).trim();
    return text === '' ? fallback : text.toLowerCase() === 'true';
  }

  /** A nested element, such as `ThreadGroup.main_controller`. */
  nested(name: string): JmeterElement | null {
    const property = this.#properties.get(name);
    return property === undefined ? null : new JmeterElement(property, []);
  }

  /** The entries of a collection. */
  list(name: string): readonly XmlElement[] {
    return this.#properties.get(name)?.children ?? [];
  }
}

/** The pairs of a hashTree: an element, and the tree of what belongs to it. */
export function elementsOf(hashTree: XmlElement | undefined): JmeterElement[] {
  const found: JmeterElement[] = [];
  const items = hashTree?.children ?? [];
  for (let index = 0; index < items.length; index++) {
    const xml = items[index];
    if (xml === undefined || xml.name === 'hashTree') continue;
    const next = items[index + 1];
    found.push(new JmeterElement(xml, next?.name === 'hashTree' ? elementsOf(next) : []));
  }
  return found;
}

/** `doubleProp` and `FloatProperty` hold their name as a child. */
function propertyName(xml: XmlElement): string | undefined {
  return xml.attributes['name'] ?? xml.children.find(({ name }) => name === 'name')?.text.trim();
}

function propertyText(xml: XmlElement): string {
  return xml.children.find(({ name }) => name === 'value')?.text ?? xml.text;
}
