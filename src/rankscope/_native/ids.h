/* Identifiers as bytes: a hash, an exact comparison, and a set that numbers them in order of arrival.
 *
 * Every identifier, wherever it lies, must be followed by IDS_PADDING readable bytes: words are loaded whole and
 * masked. A hash only proposes; equality is always decided on the bytes. */
#ifndef RANKSCOPE_IDS_H
#define RANKSCOPE_IDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IDS_PADDING 16

/* realloc of n elements; NULL (and the old memory untouched) if that is more than there is. */
static inline void *ids_resize(void *old, uint64_t n, size_t each) {
    return n > PTRDIFF_MAX / each ? NULL : realloc(old, (size_t)n * each);
}

static inline uint64_t ids_word(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* The first n (1 to 7) bytes of a word, the others zero. */
static inline uint64_t ids_head(uint64_t word, size_t n) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return word >> (64 - 8 * n) << (64 - 8 * n);
#else
    return word << (64 - 8 * n) >> (64 - 8 * n);
#endif
}

static inline uint64_t ids_hash(const uint8_t *p, size_t n) {
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t h = (uint64_t)n * odd;
    for (; n >= 8; n -= 8, p += 8) {
        h = (h ^ ids_word(p)) * odd;
        h ^= h >> 32;
    }
    if (n) {
        h = (h ^ ids_head(ids_word(p), n)) * odd;
        h ^= h >> 32;
    }
    h *= UINT64_C(0xD6E8FEB86659FD93);
    h ^= h >> 29;
#if defined(RS_WEAK_HASH) /* for tests: nearly everything collides, results must stay the same */
    h &= UINT64_C(0x100000001);
#endif
    return h;
}

static inline int ids_same(const uint8_t *a, const uint8_t *b, size_t n) {
    for (; n >= 8; n -= 8, a += 8, b += 8)
        if (ids_word(a) != ids_word(b)) return 0;
    return n == 0 || ids_head(ids_word(a) ^ ids_word(b), n) == 0;
}

/* Bytewise order; of two that agree as far as both go, the shorter is smaller. */
static inline int ids_compare(const uint8_t *a, size_t n, const uint8_t *b, size_t m) {
    int c = memcmp(a, b, n < m ? n : m);
    return c ? c : (n > m) - (n < m);
}

/* Slots hold the upper half of the hash and the number of the identifier plus one; 0 is free. */
static inline int64_t ids_find(const uint64_t *slots, uint64_t mask, const uint8_t *bytes, const uint64_t *starts,
                               uint64_t hash, const uint8_t *id, size_t n, uint64_t *free_slot) {
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
        uint64_t slot = slots[at];
        if (slot == 0) {
            *free_slot = at;
            return -1;
        }
        if (slot >> 32 == hash >> 32) {
            uint64_t i = (slot & UINT32_MAX) - 1;
            if (starts[i + 1] - starts[i] == n && ids_same(bytes + starts[i], id, n)) return (int64_t)i;
        }
    }
}

static inline uint64_t ids_slot(uint64_t hash, uint64_t number) { return (hash >> 32 << 32) | (number + 1); }

typedef struct {
    uint8_t *bytes;
    uint64_t *starts, *slots; /* starts[count] is where the next identifier goes */
    uint64_t count, room, bytes_room, mask;
} ids;

static inline void ids_free(ids *set) {
    free(set->bytes);
    free(set->starts);
    free(set->slots);
    memset(set, 0, sizeof *set);
}

/* Empties the set, with slots for as many identifiers as it had, so that clearing costs no more than filling did. */
static inline void ids_clear(ids *set) {
    if (!set->slots) return;
    uint64_t slots = 64;
    while (slots < 2 * set->count) slots *= 2;
    memset(set->slots, 0, slots * sizeof *set->slots);
    set->mask = slots - 1;
    set->count = 0;
    set->starts[0] = 0;
}

static inline int ids_more_slots(ids *set) {
    uint64_t slots = set->slots ? 2 * (set->mask + 1) : 64;
    uint64_t *fresh = ids_resize(NULL, slots, sizeof *fresh);
    if (!fresh) return 0;
    memset(fresh, 0, slots * sizeof *fresh);
    for (uint64_t i = 0; i < set->count; i++) {
        uint64_t hash = ids_hash(set->bytes + set->starts[i], set->starts[i + 1] - set->starts[i]);
        uint64_t at = hash & (slots - 1);
        while (fresh[at]) at = (at + 1) & (slots - 1);
        fresh[at] = ids_slot(hash, i);
    }
    free(set->slots);
    set->slots = fresh;
    set->mask = slots - 1;
    return 1;
}

static inline int ids_grow(ids *set, size_t n) {
    if (set->count + 2 > set->room) {
        uint64_t room = set->room ? 2 * set->room : 64;
        uint64_t *starts = ids_resize(set->starts, room, sizeof *starts);
        if (!starts) return 0;
        if (!set->starts) starts[0] = 0;
        set->starts = starts;
        set->room = room;
    }
    uint64_t needed = set->starts[set->count] + n + IDS_PADDING;
    if (needed > set->bytes_room) {
        uint64_t room = needed + needed / 2 + 1024;
        uint8_t *bytes = ids_resize(set->bytes, room, 1);
        if (!bytes) return 0;
        memset(bytes + set->bytes_room, 0, room - set->bytes_room); /* padding is read, if only to be masked away */
        set->bytes = bytes;
        set->bytes_room = room;
    }
    return 2 * (set->count + 1) <= set->mask + 1 && set->slots ? 1 : ids_more_slots(set);
}

enum { IDS_NO_MEMORY = -2, IDS_NEW = -1 };

/* The number of an identifier that is in the set already; else IDS_NEW, and it is number count-1 now. */
static inline int64_t ids_add(ids *set, uint64_t hash, const uint8_t *id, size_t n) {
    if ((set->count + 2 > set->room || set->starts[set->count] + n + IDS_PADDING > set->bytes_room ||
         2 * (set->count + 1) > set->mask + 1 || !set->slots) &&
        !ids_grow(set, n))
        return IDS_NO_MEMORY;
    uint64_t at = 0, start = set->starts[set->count];
    int64_t found = ids_find(set->slots, set->mask, set->bytes, set->starts, hash, id, n, &at);
    if (found >= 0) return found;
    set->slots[at] = ids_slot(hash, set->count);
    for (size_t i = 0; i < n; i += IDS_PADDING) memcpy(set->bytes + start + i, id + i, IDS_PADDING);
    set->starts[++set->count] = start + n;
    return IDS_NEW;
}

#endif
