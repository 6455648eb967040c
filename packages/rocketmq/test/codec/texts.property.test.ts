import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AclSigner,
  bodyCrc,
  decodeFrame,
  decodeProperties,
  encodeProperties,
  findProperty,
  RequestTemplate,
  Serialization,
  UniqueKeys,
} from '../../src/codec/index.ts';
import { tableCrc } from '../../src/codec/crc32.ts';
import { writeDecimal } from '../../src/codec/text-bytes.ts';

const text = fc
  .string({ minLength: 1, maxLength: 20, unit: 'binary' })
  .filter((value) => !value.includes('\u0001') && !value.includes('\u0002'))
  .filter((value) => Buffer.from(value).toString() === value);

describe('properties', () => {
  test('come back as they were', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text), (properties) => {
        expect({ ...decodeProperties(encodeProperties(properties)) }).toEqual({ ...properties });
      }),
    );
  });

  test('without the last separator, with empty values, the last of a name', () => {
    expect({ ...decodeProperties('a\u00011\u0002x\u0001\u0002\u0001y\u0002a\u00012') }).toEqual({
      a: '2',
    });
  });

  test('a separator inside is refused', () => {
    expect(() => encodeProperties({ a: 'b\u0002' })).toThrow('separator');
  });

  test('one is found in place', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text), text, (properties, name) => {
        const bytes = Buffer.from(`..${encodeProperties(properties)}`);
        const place = { at: 2, end: bytes.length };
        const found = findProperty(bytes, place, Buffer.from(name));
        expect(found ? bytes.toString('utf8', place.at, place.end) : undefined).toBe(
          Object.hasOwn(properties, name) ? properties[name] : undefined,
        );
      }),
    );
  });
});

describe('templates', () => {
  test('write every value that a header can hold, and sign it as the general signer does', () => {
    const signer = new AclSigner({ accessKey: 'key', secretKey: 'secret-of-tests' });
    const kinds = fc.constantFrom(Serialization.json, Serialization.binary);
    fc.assert(
      fc.property(
        kinds,
        fc.nat(),
        text,
        text,
        fc.uint8Array(),
        (serialization, offset, value, prefix, body) => {
          const template = new RequestTemplate({
            code: 310,
            serialization,
            signer,
            constants: { B: 'upper', topic: value },
            variables: [{ name: 'offset' }, { name: 'i', prefix }, { name: 'z' }],
          });
          template.setNumber(0, offset);
          const bytes = Buffer.from(value);
          bytes.copy(template.setText(1, bytes.length));
          template.setNumber(2, offset);
          const target = Buffer.alloc(template.headerBytesMax + body.length);
          const bodyAt = template.writeHeader(target, 0, 2 ** 31 - 1);
          target.set(body, bodyAt);
          template.finish(target, 0, bodyAt + body.length);
          const end = bodyAt + body.length;
          const command = decodeFrame({ bytes: target, serialization, headerAt: 8, bodyAt, end });
          const ext = {
            B: 'upper',
            topic: value,
            offset: String(offset),
            z: String(offset),
            i: prefix + value,
          };
          expect(target.readInt32BE(0)).toBe(end - 4);
          expect(command.opaque).toBe(2 ** 31 - 1);
          expect({ ...command.ext }).toEqual(signer.signed(ext, body));
        },
      ),
    );
  });

  test('numbers are written as texts', () => {
    const target = Buffer.alloc(32);
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeNat(), fc.integer()), (value) => {
        expect(target.toString('latin1', 0, writeDecimal(target, value))).toBe(String(value));
      }),
    );
    for (const value of [0, 9, 10, 999_999_999, 1e9, 1e9 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      expect(target.toString('latin1', 0, writeDecimal(target, value))).toBe(String(value));
    }
  });
});

test('the CRC by table is the CRC of zlib', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(bodyCrc(bytes)).toBe(tableCrc(bytes));
    }),
  );
});

test('a signature is the same whatever the length of secret and text', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 100 }),
      fc.uint8Array({ maxLength: 20_000 }),
      (secretKey, body) => {
        const values = Buffer.from('values');
        const first = new AclSigner({ accessKey: 'a', secretKey }).sign(values, body);
        const whole = new AclSigner({ accessKey: 'a', secretKey }).sign(
          Buffer.concat([values, body]),
          Buffer.alloc(0),
        );
        expect(first).toMatch(/^[\w+/]{27}=$/);
        expect(whole).toBe(first);
      },
    ),
    { numRuns: 50 },
  );
});

test('message ids are 32 hex digits and never come twice', () => {
  const keys = new UniqueKeys();
  const bytes = Buffer.alloc(32);
  const seen = new Set<string>();
  for (let i = 0; i < 10_000; i += 1) {
    keys.writeNext(bytes, 0);
    seen.add(bytes.toString('latin1'));
  }
  expect(seen.size).toBe(10_000);
  expect([...seen].every((key) => /^[\dA-F]{32}$/.test(key))).toBe(true);
});
