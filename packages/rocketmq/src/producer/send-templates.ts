import type { AclSigner } from '../codec/acl-signer.ts';
import { encodeProperties, Property } from '../codec/message-properties.ts';
import { MessageFlag } from '../codec/record-reader.ts';
import { CommandFlag, RequestCode } from '../codec/request-code.ts';
import { RequestTemplate } from '../codec/request-template.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import type { ProducerOptions } from './producer-options.ts';

/** Variables of a send's header, by index. */
export const SendVariable = { bornAtMs: 0, queueId: 1, properties: 2 } as const;

/** The topic whose settings an unknown topic would be made with. */
const TEMPLATE_TOPIC = 'TBW102';
const DELAY_LEVEL_MAX = 18;

/** The headers of one producer's requests, written once. */
export interface SendTemplates {
  readonly plain: RequestTemplate;
  /** For bodies that are compressed. */
  readonly packed: RequestTemplate;
  readonly batch: RequestTemplate;
  /** What every message's properties begin with, for the entries of a batch. */
  readonly entryPrefix: string;
}

/** @throws RocketmqError ARGUMENT */
export function sendTemplates(options: ProducerOptions, signer: AclSigner | null): SendTemplates {
  const { delayLevel } = options;
  if (delayLevel !== undefined && !(delayLevel >= 0 && delayLevel <= DELAY_LEVEL_MAX)) {
    throw new RocketmqError(
      'ARGUMENT',
      `no delay level ${delayLevel}: there are 1 to ${DELAY_LEVEL_MAX}`,
    );
  }
  const half = options.transactions !== undefined;
  const own = encodeProperties({
    ...options.properties,
    ...(delayLevel === undefined ? {} : { [Property.delayLevel]: String(delayLevel) }),
    ...(half ? { [Property.transaction]: 'true', [Property.producerGroup]: options.group } : {}),
  });
  // The key is the last property, and a single message's last separator may be missing: so the
  // changing part is 32 plain digits.
  const key = (options.uniqueKeys ?? true) ? `${Property.uniqueKey}\u0001` : '';
  const transaction = half ? MessageFlag.prepared : 0;
  const template = (kind: { sysFlag: number; batch: boolean; prefix: string }): RequestTemplate =>
    new RequestTemplate({
      code: kind.batch ? RequestCode.sendBatchMessage : RequestCode.sendMessageV2,
      flag: options.oneWay === true ? CommandFlag.oneWay : 0,
      ...(options.serialization === undefined ? {} : { serialization: options.serialization }),
      signer,
      constants: {
        a: options.group,
        b: options.topic,
        c: TEMPLATE_TOPIC,
        d: '4',
        f: String(kind.sysFlag),
        h: '0',
        // The field decides that it is a batch, not the code.
        ...(kind.batch ? { m: 'true' } : {}),
      },
      variables: [{ name: 'g' }, { name: 'e' }, { name: 'i', prefix: kind.prefix }],
    });
  const single = own + key;
  return {
    plain: template({ sysFlag: transaction, batch: false, prefix: single }),
    packed: template({
      sysFlag: transaction | MessageFlag.compressed,
      batch: false,
      prefix: single,
    }),
    // What stands outside goes into every message of a batch: nothing of one message may.
    batch: template({ sysFlag: 0, batch: true, prefix: '' }),
    entryPrefix: single,
  };
}
