import { describe, expect, test } from 'vitest';
import { ScramError, ScramExchange } from '../../src/clients/authentication/scram.ts';

const PENCIL = { method: 'SCRAM-SHA-256', username: 'user', password: 'pencil' } as const;
/** The exchange of RFC 7677, section 3. */
const NONCE = 'rOprNGfwEbeRWgbNEkqO';
const SERVER_FIRST =
  'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096';

describe('SCRAM-SHA-256', () => {
  test('is that of RFC 7677', async () => {
    const exchange = new ScramExchange(PENCIL, NONCE);
    expect(exchange.first().toString()).toBe('n,,n=user,r=rOprNGfwEbeRWgbNEkqO');
    const final = await exchange.final(Buffer.from(SERVER_FIRST));
    expect(final.toString()).toBe(
      'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,' +
        'p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
    );
    const good = Buffer.from('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=');
    expect(exchange.accepts(good)).toBe(true);
    expect(exchange.accepts(Buffer.from('v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4='))).toBe(
      false,
    );
    expect(exchange.accepts(Buffer.from('e=invalid-proof'))).toBe(false);
    expect(exchange.accepts(Buffer.alloc(0))).toBe(false);
  });

  test('escapes what separates fields, and takes a fresh nonce each time', () => {
    const odd = { ...PENCIL, username: 'a=b,c' };
    expect(new ScramExchange(odd, 'n').first().toString()).toBe('n,,n=a=3Db=2Cc,r=n');
    const nonces = new Set(
      Array.from({ length: 5 }, () => new ScramExchange(odd).first().toString()),
    );
    expect(nonces.size).toBe(5);
  });

  test.each([
    ['another nonce', 'r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096', 'nonce'],
    ['our nonce alone', `r=${NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`, 'nonce'],
    ['no salt', `r=${NONCE}x,i=4096`, 'salt'],
    ['no iterations', `r=${NONCE}x,s=W22ZaJ0SNY7soEsUEjb6gQ==`, 'iteration'],
    ['iterations without end', `r=${NONCE}x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=999999999`, 'iteration'],
    ['nothing', '', 'nonce'],
  ])('refuses a challenge with %s', async (_name, challenge, words) => {
    const answer = new ScramExchange(PENCIL, NONCE).final(Buffer.from(challenge));
    await expect(answer).rejects.toThrow(ScramError);
    await expect(answer).rejects.toThrow(words);
  });
});
