/* Identifiers as bytes: a hash, an exact comparison, and a set that numbers them in order of arrival.
 *
 * Every identifier, wherever it lies, must be followed by IDS_PADDING readable bytes: words are loaded whole and
 * masked. Equal hashes only suggest equal identifiers; the bytes always decide. The hash depends on a random key, so
 * that an attacker cannot write a file whose identifiers collide. */
#ifndef RANKSCOPE_IDS_H
#define RANKSCOPE_IDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

#define IDS_PADDING 16

/* realloc of n elements; NULL (and the old memory untouched) if that is more than there is. */
static inline void *ids_resize(void *old, uint64_t n, size_t each) {
    return n > PTRDIFF_MAX / each ? NULL : realloc(old, (size_t)n * each);
}

typedef struct {
    uint64_t text, state; /* both secret: input is never multiplied by a known constant */
} ids_key;

static inline uint64_t ids_hash(ids_key key, const uint8_t *p, size_t n) {
    uint64_t h = key.state ^ n;
    if (n >= 8) { /* the last word overlaps the one before, which costs less than to mask it */
        const uint8_t *last = p + n - 8;
        for (; p < last; p += 8) h = word_mix(word_at(p) ^ key.text, h);
        h = word_mix(word_at(last) ^ key.text, h);
    } else if (n) {
        h = word_mix(word_head(word_at(p), n) ^ key.text, h);
    }
#if defined(RS_WEAK_HASH) /* for tests: nearly everything collides, results must stay the same */
    h &= UINT64_C(0x100000001);
#endif
    return h;
}

static inline int ids_same(const uint8_t *a, const uint8_t *b, size_t n) {
    for (; n >= 8; n -= 8, a += 8, b += 8)
        if (word_at(a) != word_at(b)) return 0;
    return n == 0 || word_head(word_at(a) ^ word_at(b), n) == 0;
}

/* The first eight bytes as a number that orders identifiers as their bytes do; zeros after a shorter one. */
static inline uint64_t ids_prefix(const uint8_t *p, size_t n) {
    return word_order(n >= 8 ? word_at(p) : n ? word_head(word_at(p), n) : 0);
}

/* Bytewise order; of two that agree as far as both go, the shorter is smaller. */
static inline int ids_compare(const uint8_t *a, size_t n, const uint8_t *b, size_t m) {
    int c = memcmp(a, b, n < m ? n : m);
    return c ? c : (n > m) - (n < m);
}

typedef struct {
    uint8_t *bytes;
    uint64_t *starts; /* starts[count] is where the next identifier goes */
    uint32_t *slots;
    ids_key key;
    uint64_t slot_mask; /* slots less one */
    uint32_t number_mask; /* of the bits of a slot that hold the number */
    uint64_t count, room, most, bytes_room; /* room: for how many there are slots now; most: for how many memory */
} ids;

static inline void ids_free(ids *set) {
    free(set->bytes);
    free(set->starts);
    free(set->slots);
    memset(set, 0, sizeof *set);
}

/* A slot holds the number of the identifier plus one in its lower bits and part of the hash in the others; 0 is free.
 * There are four slots for every identifier that fits, so that the first is the right one more often; in sets that are
 * larger than the caches there are two, because a lookup waits for memory, and the next slots come with the first. */
static inline uint64_t ids_slots(uint64_t room) { return room > 1 << 16 ? 2 * room : 4 * room; }

/* For tests: number of probed slots with another id. */
#if defined(RS_COUNT_PROBES)
extern uint64_t rs_probes;
#define IDS_PROBE (rs_probes++)
#else
#define IDS_PROBE ((void)0)
#endif

static inline void ids_put(ids *set, uint64_t at, uint64_t hash, uint64_t number) {
    set->slots[at] = ((uint32_t)(hash >> 32) & ~set->number_mask) | (uint32_t)(number + 1);
}

static inline void ids_no_slots(ids *set, uint64_t room) {
    memset(set->slots, 0, ids_slots(room) * sizeof *set->slots);
    set->room = room;
    set->slot_mask = ids_slots(room) - 1;
    set->number_mask = (uint32_t)(2 * room - 1);
}

/* Empties the set, with slots for as many identifiers as it had, so that clearing costs no more than filling did. */
static inline void ids_clear(ids *set) {
    if (!set->slots) return;
    uint64_t room = 32;
    while (room < set->count) room *= 2;
    ids_no_slots(set, room);
    set->count = 0;
    set->starts[0] = 0;
}

static inline int ids_more_room(ids *set) {
    uint64_t room = set->room ? 2 * set->room : 32;
    if (room > set->most) {
        uint64_t *starts = ids_resize(set->starts, room + 1, sizeof *starts);
        if (!starts) return 0;
        if (!set->starts) starts[0] = 0;
        set->starts = starts;
        uint32_t *slots = ids_resize(NULL, ids_slots(room), sizeof *slots);
        if (!slots) return 0;
        free(set->slots);
        set->slots = slots;
        set->most = room;
    }
    ids_no_slots(set, room);
    for (uint64_t i = 0; i < set->count; i++) {
        uint64_t hash = ids_hash(set->key, set->bytes + set->starts[i], set->starts[i + 1] - set->starts[i]);
        uint64_t at = hash & set->slot_mask;
        while (set->slots[at]) at = (at + 1) & set->slot_mask;
        ids_put(set, at, hash, i);
    }
    return 1;
}

static inline int ids_more_bytes(ids *set, uint64_t needed) {
    uint64_t room = needed + needed / 2 + 1024;
    uint8_t *bytes = ids_resize(set->bytes, room, 1);
    if (!bytes) return 0;
    memset(bytes + set->bytes_room, 0, room - set->bytes_room); /* padding is read, if only to be masked away */
    set->bytes = bytes;
    set->bytes_room = room;
    return 1;
}

/* The number of an identifier, or -1 and where its slot would be. There must be slots. */
static inline int64_t ids_find(const ids *set, uint64_t hash, const uint8_t *id, size_t n, uint64_t *free_slot) {
    const uint32_t mark = (uint32_t)(hash >> 32);
    uint64_t at = hash & set->slot_mask;
    for (uint32_t slot; (slot = set->slots[at]); at = (at + 1) & set->slot_mask) {
        IDS_PROBE;
        if ((slot ^ mark) & ~set->number_mask) continue;
        uint64_t i = (slot & set->number_mask) - 1, start = set->starts[i];
        if (set->starts[i + 1] - start == n && ids_same(set->bytes + start, id, n)) return (int64_t)i;
    }
    *free_slot = at;
    return -1;
}

enum { IDS_NO_MEMORY = -2, IDS_NEW = -1 };

/* The number of an identifier that is in the set already; else IDS_NEW, and it is number count-1 now. */
static inline int64_t ids_add(ids *set, uint64_t hash, const uint8_t *id, size_t n) {
    if (set->count == set->room && !ids_more_room(set)) return IDS_NO_MEMORY;
    uint64_t at = 0, start = set->starts[set->count];
    if (start + n + IDS_PADDING > set->bytes_room && !ids_more_bytes(set, start + n + IDS_PADDING))
        return IDS_NO_MEMORY;
    int64_t found = ids_find(set, hash, id, n, &at);
    if (found >= 0) return found;
    ids_put(set, at, hash, set->count);
    for (size_t i = 0; i < n; i += IDS_PADDING) memcpy(set->bytes + start + i, id + i, IDS_PADDING);
    set->starts[++set->count] = start + n;
    return IDS_NEW;
}

/* Adds an identifier; returns 0, and does nothing, if there is no room or the set may have it already. */
INLINE int ids_append(ids *set, uint64_t hash, const uint8_t *id, size_t n) {
    const uint32_t mark = (uint32_t)(hash >> 32);
    if (set->count == set->room) return 0;
    const uint64_t start = set->starts[set->count];
    if (start + n + IDS_PADDING > set->bytes_room) return 0;
    uint64_t at = hash & set->slot_mask;
    for (uint32_t slot; (slot = set->slots[at]); at = (at + 1) & set->slot_mask) {
        IDS_PROBE;
        if (!((slot ^ mark) & ~set->number_mask)) return 0;
    }
    ids_put(set, at, hash, set->count);
    for (size_t i = 0; i < n; i += IDS_PADDING) memcpy(set->bytes + start + i, id + i, IDS_PADDING);
    set->starts[++set->count] = start + n;
    return 1;
}

#endif
