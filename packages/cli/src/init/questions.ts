/** What a first plan is made of, each a word of the plan language. */
export interface InitAnswers {
  readonly protocol: string;
  readonly broker: string;
  readonly clients: string;
  readonly every: string;
  readonly qos: string;
  readonly payload: string;
  readonly for: string;
  /** `yes`: somebody subscribes, so that deliveries are verified. */
  readonly verify: string;
}

export interface Question {
  readonly name: keyof InitAnswers;
  readonly flag: string;
  readonly text: string;
  /** May depend on what was answered before. */
  readonly usual: (before: Partial<InitAnswers>) => string;
  /** Only these, where there are only a few. */
  readonly choices?: readonly string[];
}

/** In the order of asking. Each is an option of the command, too. */
export const QUESTIONS: readonly Question[] = [
  {
    name: 'protocol',
    flag: '--protocol <name>',
    text: 'mqtt or rocketmq',
    usual: () => 'mqtt',
    choices: ['mqtt', 'rocketmq'],
  },
  {
    name: 'broker',
    flag: '--broker <address>',
    text: 'address of the broker, or of a name server of RocketMQ',
    usual: ({ protocol }) => (protocol === 'rocketmq' ? '127.0.0.1:9876' : 'mqtt://127.0.0.1:1883'),
  },
  {
    name: 'clients',
    flag: '--clients <n>',
    text: 'virtual clients, such as 1000 or 10k',
    usual: () => '100',
  },
  {
    name: 'every',
    flag: '--every <duration>',
    text: 'each client sends a message every',
    usual: () => '1s',
  },
  {
    name: 'qos',
    flag: '--qos <n>',
    text: 'QoS of the messages (MQTT)',
    usual: () => '1',
    choices: ['0', '1', '2'],
  },
  {
    name: 'payload',
    flag: '--payload <size>',
    text: 'size of a message',
    usual: () => '200B',
  },
  { name: 'for', flag: '--for <duration>', text: 'how long the load lasts', usual: () => '1m' },
  {
    name: 'verify',
    flag: '--verify <yes|no>',
    text: 'subscribe to the messages, and find out what was lost (yes or no)',
    usual: () => 'yes',
    choices: ['yes', 'no'],
  },
];
