/*
 * The control of the publish benchmark: what the kernel charges for a paced QoS 1 publisher.
 *
 * One thread, one epoll set, one write(2) a PUBLISH and one read(2) a PUBACK, a tick a millisecond:
 * the same system calls as a Squall worker makes, and nothing else (no stamp, no histogram).
 *
 *   epoll-publisher HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES
 *
 * Prints "connected" when every client has its CONNACK, then publishes. Each line on standard input
 * is answered by one line {"acked":N,"cpuUs":N} taken at that moment; end of input ends it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CLIENTS = 15000, READ_BYTES = 65536, MAX_PACKET = 4096, EVENTS = 1024 };

struct client {
  int fd;
  uint16_t packet_id;
  uint64_t due_us;
};

static struct client clients[MAX_CLIENTS];
static unsigned char packet[MAX_PACKET];
static unsigned char input[READ_BYTES];
static uint64_t acked;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static uint64_t cpu_us(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000u +
         (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void connect_client(int index, const struct sockaddr_in *address) {
  unsigned char connect_packet[64];
  unsigned char connack[4];
  char id[32];
  int id_length = snprintf(id, sizeof id, "bench-c-%d", index);
  unsigned char *p = connect_packet;
  *p++ = 0x10;
  *p++ = (unsigned char)(12 + id_length);
  memcpy(p, "\0\4MQTT\4\2\0\74\0", 11); /* protocol 4, clean session, keep-alive 60 s */
  p += 11;
  *p++ = (unsigned char)id_length;
  memcpy(p, id, (size_t)id_length);
  p += id_length;

  int fd = socket(AF_INET, SOCK_STREAM, 0);
  int one = 1;
  if (fd < 0) die("socket");
  if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (write(fd, connect_packet, (size_t)(p - connect_packet)) != p - connect_packet) die("CONNECT");
  if (read(fd, connack, 4) != 4 || connack[3] != 0) die("CONNACK");
  fcntl(fd, F_SETFL, O_NONBLOCK);
  clients[index].fd = fd;
  clients[index].packet_id = 0;
}

/* The PUBLISH of every client, but for topic digits and packet id, which are patched. */
static size_t build_publish(int payload_bytes, size_t *topic_at, size_t *id_at) {
  const char *topic = "bench/00000/up";
  size_t topic_length = strlen(topic);
  size_t remaining = 2 + topic_length + 2 + (size_t)payload_bytes;
  size_t at = 0;
  packet[at++] = 0x32;
  do {
    unsigned char byte = remaining % 128;
    remaining /= 128;
    packet[at++] = (unsigned char)(remaining ? byte | 0x80 : byte);
  } while (remaining);
  packet[at++] = 0;
  packet[at++] = (unsigned char)topic_length;
  *topic_at = at + 6;
  memcpy(packet + at, topic, topic_length);
  at += topic_length;
  *id_at = at;
  at += 2;
  memset(packet + at, 'x', (size_t)payload_bytes);
  return at + (size_t)payload_bytes;
}

static void publish(int index, size_t length, size_t topic_at, size_t id_at) {
  struct client *c = &clients[index];
  int digits = index;
  for (int d = 4; d >= 0; d--, digits /= 10) packet[topic_at + (size_t)d] = (unsigned char)('0' + digits % 10);
  if (++c->packet_id == 0) c->packet_id = 1;
  packet[id_at] = (unsigned char)(c->packet_id >> 8);
  packet[id_at + 1] = (unsigned char)c->packet_id;
  if (write(c->fd, packet, length) != (ssize_t)length) die("PUBLISH");
}

static void read_acks(int index) {
  ssize_t n = read(clients[index].fd, input, sizeof input);
  if (n <= 0) {
    if (n < 0 && errno == EAGAIN) return;
    fprintf(stderr, "connection %d closed\n", index);
    exit(1);
  }
  acked += (uint64_t)n / 4; /* a PUBACK is four bytes */
}

static void answer_marks(void) {
  char line[64];
  ssize_t n = read(0, line, sizeof line);
  if (n == 0) exit(0);
  printf("{\"acked\":%llu,\"cpuUs\":%llu}\n", (unsigned long long)acked, (unsigned long long)cpu_us());
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: epoll-publisher HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES\n");
    return 2;
  }
  int count = atoi(argv[3]);
  uint64_t every_us = (uint64_t)atoi(argv[4]) * 1000u;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  if (count < 1 || count > MAX_CLIENTS || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) return 2;

  int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = MAX_CLIENTS};
  epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
  for (int i = 0; i < count; i++) {
    connect_client(i, &address);
    event.data.u32 = (uint32_t)i;
    epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i].fd, &event);
  }
  size_t topic_at, id_at;
  size_t length = build_publish(atoi(argv[5]), &topic_at, &id_at);
  printf("connected\n");
  fflush(stdout);

  /* Clients take turns in order of index, evenly over the period. */
  uint64_t start = now_us();
  uint64_t tick = 0;
  struct epoll_event events[EVENTS];
  for (;;) {
    uint64_t now = now_us();
    while (start + tick * every_us / (uint64_t)count <= now) {
      publish((int)(tick % (uint64_t)count), length, topic_at, id_at);
      tick++;
    }
    int n = epoll_wait(epoll, events, EVENTS, 1);
    for (int i = 0; i < n; i++) {
      if (events[i].data.u32 == MAX_CLIENTS) answer_marks();
      else read_acks((int)events[i].data.u32);
    }
  }
}
