/** What TLS may end an attempt to connect with. What has no name here begins with `TLS: `, too. */
export const TLS_FAILURES: readonly string[] = [
  'TLS: self-signed certificate in chain: name the file of its authority in tls.ca',
  'TLS: self-signed certificate: name its file in tls.ca, or switch tls.verify off',
  'TLS: certificate of an unknown authority: name the file of its authority in tls.ca',
  'TLS: certificate not signed by the authority that it names',
  'TLS: certificate has expired',
  'TLS: certificate is not valid yet',
  'TLS: certificate is revoked',
  'TLS: certificate signed by one that is no authority',
  'TLS: certificate is not for servers',
  'TLS: certificate is for another host: set tls.servername to a name that it bears',
  'TLS: broker requires a client certificate',
  'TLS: broker does not know the authority of the client certificate',
  'TLS: broker refuses the client certificate',
  'TLS: broker refuses the client certificate: unsupported kind',
  'TLS: broker refuses the client certificate: not accepted',
  'TLS: broker refuses the client certificate: expired',
  'TLS: broker refuses the client certificate: revoked',
  'TLS: broker refuses the client certificate: its signature does not fit',
  'TLS: broker denies access',
  'TLS: broker refuses the handshake: no common cipher, or it wants a client certificate',
  'TLS: no common version of TLS',
  'TLS: broker speaks none of the protocols of tls.alpn',
  'TLS: broker does not know the name in tls.servername',
  'TLS: internal error of the broker',
  'TLS: the port does not speak TLS',
  'TLS: closed by the peer during the handshake: does the port speak TLS?',
];

/** Why a broker did not grant a WebSocket. */
export const UPGRADE_FAILURES: readonly string[] = [
  'WebSocket: closed by the peer during the upgrade: does the port speak WebSocket?',
  'WebSocket: the port does not speak HTTP',
  'WebSocket: answer to the upgrade above 16 KiB',
  'WebSocket: answer 101 without Upgrade: websocket and Connection: Upgrade',
  'WebSocket: wrong Sec-WebSocket-Accept',
  'WebSocket: broker chose an extension that was not offered',
  'WebSocket: broker did not choose the sub-protocol [MQTT-6.0.0-4]',
];

/** Beginnings of reasons that go on with what was found: words of OpenSSL, a status, a close code. */
export const TRANSPORT_BEGINNINGS: readonly string[] = ['TLS: ', 'WebSocket: '];
