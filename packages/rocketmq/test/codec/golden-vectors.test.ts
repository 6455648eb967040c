import { describe, expect, test } from 'vitest';
import {
  AclSigner,
  crcMatches,
  decodeBatch,
  decodeFrame,
  decodeRecords,
  encodeFrame,
  encodeProperties,
  FrameFramer,
  type FrameView,
  javaHash,
  parseTopicRoute,
  RecordReader,
  type RemotingCommand,
  request,
  RequestTemplate,
  Serialization,
  commitLogOffset,
  writeBatchEntry,
} from '../../src/codec/index.ts';

/** Bytes that live brokers of 4.8.0, 4.9.7 and 5.3.3 took or gave. */
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

const ROUTE_JSON = `{"code":105,"language":"OTHER","version":373,"opaque":1,"flag":0,"extFields":{"topic":"T1"}}`;
const ROUTE_FRAME = hex(
  `00000060 0000005c 7b22636f6465223a3130352c226c616e6775616765223a224f54484552222c2276657273696f6e223a3337332c226f7061717565
   223a312c22666c6167223a302c226578744669656c6473223a7b22746f706963223a225431227d7d`,
);
const ROUTE_BINARY = hex(
  '00000026 01000022 0069 07 0175 00000001 00000000 00000000 0000000d 0005 746f706963 00000002 5431',
);
const RECORD_480 = hex(
  `000000b4 daa320a7 3610a686 00000000 00000000 0000000000000000 0000000000000000 00000000 000001a22ccc7f19 7f00000100008b12
   000001a22ccc7f1e 7f000001000051af 00000000 0000000000000000 00000005 68656c6c6f 02 5431 0052
   554e49515f4b455901414331313030303130303031303030313030303130303030303030303030414202434c55535445520144656661756c74436c7573746572025741495401747275650254414753016102`,
);
const RECORD_533 = hex(
  `000000c5 daa320a7 3610a686 00000000 00000000 0000000000000000 0000000000000000 00000000 000001a22d141d63 7f000001000094bc
   000001a22d141d7f 7f00000100004ef2 00000000 0000000000000000 00000005 68656c6c6f 02 5431 0063
   4d53475f524547494f4e0144656661756c74526567696f6e02554e49515f4b455901414331313030303130303031303030313030303130303031303030314141414102434c5553544552016331025441475301610254524143455f4f4e017472756502`,
);
const BATCH = hex(
  `00000024 00000000 00000000 00000000 00000002 6231 000c 554e49515f4b455901553102
   00000019 00000000 00000000 00000000 00000003 623232 0000`,
);
const SEND_FIELDS = {
  a: 'PG',
  b: 'topicA',
  c: 'TBW102',
  d: '4',
  e: '0',
  f: '0',
  g: '1600000000000',
  h: '0',
  i: 'KEYS\u0001k1\u0002WAIT\u0001true\u0002',
  j: '0',
  k: 'false',
  m: 'false',
};
const SEND_SIGNATURE = 'fL4uC20x7sSnOeX29yzs0mcpWS4=';
const CREDENTIALS = { accessKey: 'benchuser', secretKey: 'benchsecret1' };

function viewOf(frame: Buffer): FrameView {
  let seen: FrameView | null = null;
  const framer = new FrameFramer({
    frame: (view) => {
      seen = { ...view };
      return true;
    },
    malformed: (why) => {
      throw new Error(why);
    },
  });
  framer.feed(frame, frame.length);
  if (seen === null) throw new Error('no frame');
  return seen;
}

describe('frames', () => {
  const route: RemotingCommand = {
    ...request({ code: 105, ext: { topic: 'T1' } }),
    version: 373,
    opaque: 1,
  };

  test('a JSON request is written as brokers take it', () => {
    const frame = encodeFrame(route);
    expect(frame.subarray(8).toString()).toBe(ROUTE_JSON);
    expect(frame).toEqual(ROUTE_FRAME);
  });

  test('a binary request is written as brokers take it', () => {
    expect(encodeFrame(route, Serialization.binary)).toEqual(ROUTE_BINARY);
  });

  test.each([
    ['JSON', ROUTE_FRAME],
    ['binary', ROUTE_BINARY],
  ])('a %s header is read by its own type byte', (_name, frame) => {
    const read = decodeFrame(viewOf(frame));
    expect({ ...read, ext: { ...read.ext } }).toEqual(route);
  });

  test('a code of more than 16 bits is refused for a binary header', () => {
    expect(() => encodeFrame(request({ code: 200_050 }), Serialization.binary)).toThrow(
      'needs a JSON header',
    );
  });

  test('a template without a signature writes what the general encoder writes, binary', () => {
    const template = new RequestTemplate({
      code: 105,
      serialization: Serialization.binary,
      constants: { topic: 'T1' },
      variables: [],
    });
    const target = Buffer.alloc(200);
    const end = template.writeHeader(target, 0, 1);
    template.finish(target, 0, end);
    const expected = encodeFrame({ ...route, version: 409 }, Serialization.binary);
    expect(target.subarray(0, end)).toEqual(expected);
  });
});

describe('stored messages', () => {
  test.each([
    ['4.8.0', RECORD_480],
    ['5.3.3', RECORD_533],
  ])('a record of %s is read whole', (_version, bytes) => {
    const [message, ...more] = decodeRecords(bytes);
    expect(more).toEqual([]);
    expect(message).toMatchObject({ topic: 'T1', queueId: 0, queueOffset: 0, reconsumeTimes: 0 });
    expect(message?.body.toString()).toBe('hello');
    expect(message?.properties['TAGS']).toBe('a');
    expect(message?.properties['UNIQ_KEY']).toHaveLength(32);
  });

  test('the CRC of the body is that of the broker', () => {
    const reader = new RecordReader();
    expect(reader.read(RECORD_480, 0, RECORD_480.length)).toBe(RECORD_480.length);
    expect(reader.bodyCrc).toBe(907_060_870);
    expect(crcMatches(reader)).toBe(true);
    const damaged = Buffer.from(RECORD_480);
    damaged[reader.bodyAt] = 0x48;
    reader.read(damaged, 0, damaged.length);
    expect(crcMatches(reader)).toBe(false);
  });

  test('times are read in milliseconds of the epoch', () => {
    const [message] = decodeRecords(RECORD_480);
    expect(message?.bornAtMs).toBe(0x1a22ccc7f19);
    expect(message?.storedAtMs).toBe(0x1a22ccc7f1e);
  });
});

describe('batches', () => {
  test('two entries are written byte by byte as brokers take them', () => {
    const target = Buffer.alloc(200, 0xff);
    const properties = Buffer.from(encodeProperties({ UNIQ_KEY: 'U1' }));
    let end = writeBatchEntry(target, 0, { body: Buffer.from('b1'), properties });
    end = writeBatchEntry(target, end, { body: Buffer.from('b22'), properties: Buffer.alloc(0) });
    expect(target.subarray(0, end)).toEqual(BATCH);
  });

  test('and read again', () => {
    const bodies = decodeBatch(BATCH).map((entry) => Buffer.from(entry.body).toString());
    expect(bodies).toEqual(['b1', 'b22']);
  });
});

describe('signing', () => {
  const signer = new AclSigner(CREDENTIALS);

  test('the golden vector of all three versions', () => {
    const signed = signer.signed(SEND_FIELDS, Buffer.from('hello'));
    expect(signed['Signature']).toBe(SEND_SIGNATURE);
    expect(signed['AccessKey']).toBe('benchuser');
  });

  test('an old signature is not signed again', () => {
    const again = signer.signed(
      signer.signed(SEND_FIELDS, Buffer.from('hello')),
      Buffer.from('hello'),
    );
    expect(again['Signature']).toBe(SEND_SIGNATURE);
  });

  test.each([
    ['JSON', Serialization.json],
    ['binary', Serialization.binary],
  ])('a patched %s template is signed alike', (_name, serialization) => {
    const { e: _e, g: _g, i: _i, ...constants } = SEND_FIELDS;
    const template = new RequestTemplate({
      code: 310,
      serialization,
      signer,
      constants,
      variables: [{ name: 'g' }, { name: 'e' }, { name: 'i', prefix: 'KEYS\u0001k1\u0002' }],
    });
    template.setNumber(0, 1_600_000_000_000);
    template.setNumber(1, 0);
    const rest = 'WAIT\u0001true\u0002';
    template.setText(2, rest.length).write(rest);
    const target = Buffer.alloc(2048);
    expect(template.headerBytesMax).toBeLessThan(1024);
    const bodyAt = template.writeHeader(target, 3, 77);
    const end = bodyAt + target.write('hello', bodyAt);
    template.finish(target, 3, end);
    const command = decodeFrame(viewOf(target.subarray(3, end)));
    expect(command.opaque).toBe(77);
    expect(command.body.toString()).toBe('hello');
    expect({ ...command.ext }).toEqual({
      ...SEND_FIELDS,
      AccessKey: 'benchuser',
      Signature: SEND_SIGNATURE,
    });
  });
});

describe('routes', () => {
  test("4.8.0's answer, which is no JSON", () => {
    const route = parseTopicRoute(
      `{"brokerDatas":[{"brokerAddrs":{0:"127.0.0.1:20911"},"brokerName":"broker-a","cluster":"DefaultCluster"}],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSynFlag":0,"writeQueueNums":4}]}`,
    );
    expect(route.brokers[0]?.addresses.get(0)).toBe('127.0.0.1:20911');
    expect(route.queues).toEqual([
      { brokerName: 'broker-a', readQueues: 4, writeQueues: 4, permissions: 6 },
    ]);
  });

  test('offset message ids end with the commit-log position', () => {
    expect(commitLogOffset('7F000001000051AF0000000000001000')).toBe(4096);
    expect(commitLogOffset(`${'0'.repeat(40)}0000000000000010`)).toBe(16);
    expect(commitLogOffset('not an id')).toBeNull();
  });

  test('tags hash as in Java', () => {
    expect(javaHash('TagA')).toBe(2_598_919);
    expect(javaHash('polygenelubricants')).toBe(-2_147_483_648);
  });
});
