/* The fields of a line. */
#ifndef RANKSCOPE_FIELDS_H
#define RANKSCOPE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "ids.h"

#define WINDOW 64 /* bytes looked at in one step, and readable bytes after every block */

typedef struct {
    const uint8_t *at;
    size_t length;
} field;

enum { TOPIC = 0, DOCUMENT = 2, RANK = 3, SCORE = 4, TAG = 5, COLUMNS = 6 };

static inline int is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Bit i: byte i of half a window is a space or a control character. */
INLINE uint64_t half_gaps(const uint8_t *p) {
#if defined(RS_SSE2)
    const __m128i space = _mm_set1_epi8(' ');
    const __m128i low = _mm_loadu_si128((const __m128i *)p), high = _mm_loadu_si128((const __m128i *)(p + 16));
    const unsigned first = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(low, space), low));
    const unsigned second = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(high, space), high));
    return first | (uint64_t)second << 16;
#else
    uint64_t mask = 0;
    for (int i = 0; i < WINDOW / 2; i++) mask |= (uint64_t)(p[i] <= ' ') << i;
    return mask;
#endif
}

/* The same for a whole window. */
INLINE uint64_t gaps(const uint8_t *p) { return half_gaps(p) | half_gaps(p + WINDOW / 2) << WINDOW / 2; }

/* The length of the Unicode line end (NEL, U+2028, U+2029) at p, or 0. */
static inline size_t unicode_end(const uint8_t *p, const uint8_t *end) {
    if (*p == 0xC2) return end - p > 1 && p[1] == 0x85 ? 2 : 0;
    return *p == 0xE2 && end - p > 2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9) ? 3 : 0;
}

/* Whether a window of text is ASCII. */
INLINE int is_ascii(const uint8_t *p) {
#if defined(RS_SSE2)
    const __m128i *block = (const __m128i *)p;
    const __m128i low = _mm_or_si128(_mm_loadu_si128(block), _mm_loadu_si128(block + 1));
    const __m128i high = _mm_or_si128(_mm_loadu_si128(block + 2), _mm_loadu_si128(block + 3));
    return !_mm_movemask_epi8(_mm_or_si128(low, high));
#else
    uint64_t all = 0;
    for (int i = 0; i < WINDOW; i += 8) all |= word_at(p + i);
    return !(all & UINT64_C(0x8080808080808080));
#endif
}

/* The first Unicode line end from p on, or the end. */
static inline const uint8_t *next_unicode_end(const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        if (end - p >= WINDOW && is_ascii(p)) {
            p += WINDOW; /* the normal case */
        } else {
            const uint8_t *stop = end - p > WINDOW ? p + WINDOW : end;
            for (; p < stop; p++)
                if (unicode_end(p, end)) return p;
        }
    }
    return end;
}

/* The first line end in a line that is not ours, from the start of the last field (in a comment, of the line) to the
 * last byte that is not blank; its length is 0 if the line has no such end. `end` is the newline. */
static inline field foreign_end(const uint8_t *line, const uint8_t *last_field, const uint8_t *end) {
    for (const uint8_t *p = line; p < end; p++) /* anywhere: elsewhere a CR alone is a line end like LF */
        if (*p == '\r' && p[1] != '\n') return (field){p, 1};
    while (last_field < end && is_space(end[-1])) end--;
    for (const uint8_t *p = last_field; p < end; p++) {
        size_t length = unicode_end(p, end);
        if (*p == '\v' || *p == '\f' || (*p >= 0x1C && *p <= 0x1E)) length = 1;
        if (length) return (field){p, length};
    }
    return (field){end, 0};
}

static inline const uint8_t *next_gap(const uint8_t **window, uint64_t *mask) {
    while (!*mask) *mask = gaps(*window += WINDOW);
    const uint8_t *gap = *window + lowest_bit(*mask);
    *mask &= *mask - 1;
    return gap;
}

/* A text to compare with, of at least one byte, and 16 readable bytes after it. */
typedef struct {
    const uint8_t *at;
    size_t length;
    unsigned last; /* bit i: byte i of its last block of up to 16 bytes is part of it */
} pattern;

static inline pattern pattern_of(const uint8_t *at, size_t length) {
    return (pattern){at, length, (2u << ((length - 1) & 15)) - 1};
}

/* Whether a text starts with a pattern; 16 bytes must be readable from each place on up to which both are the same. */
INLINE int starts_with(const uint8_t *p, pattern text) {
#if defined(RS_SSE2)
    const uint8_t *at = text.at;
    for (size_t n = text.length;; n -= 16, p += 16, at += 16) {
        const __m128i a = _mm_loadu_si128((const __m128i *)p), b = _mm_loadu_si128((const __m128i *)at);
        const unsigned other = 0xFFFF ^ (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
        if (n <= 16) return !(other & text.last);
        if (other) return 0;
    }
#else
    return ids_same(p, text.at, text.length);
#endif
}

/* The distances of the first three gaps from p; 0 if the window has less. */
INLINE int three_gaps(const uint8_t *p, size_t *ends) {
    uint64_t first = half_gaps(p), second = first & (first - 1), third = second & (second - 1);
    if (!third) { /* not in the first half, which is enough for most */
        first |= half_gaps(p + WINDOW / 2) << WINDOW / 2;
        second = first & (first - 1);
        third = second & (second - 1);
        if (!third) return 0;
    }
    ends[0] = lowest_bit(first);
    ends[1] = lowest_bit(second);
    ends[2] = lowest_bit(third);
    return 1;
}

/* The six fields of a line that ends inside the window, has the same space or tab between them and nothing after the
 * tag; where the next line starts, or NULL for any other line. */
static inline const uint8_t *split_short(const uint8_t *line, field *fields) {
    const uint64_t mask = gaps(line);
    uint64_t left[COLUMNS] = {mask}; /* the gaps from the end of a field on */
    for (int i = 1; i < COLUMNS; i++) left[i] = left[i - 1] & (left[i - 1] - 1);
    const uint64_t last = left[COLUMNS - 1], mine = mask & (last ^ (last - 1));
    if (!last || (mine & (mine << 1 | 1)) || *line == '#') return NULL; /* a gap where a field should start */
    const uint8_t *at[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) at[i] = line + lowest_bit(left[i]);
    const uint8_t separator = *at[0], *end = at[COLUMNS - 1];
    unsigned mixed = 0;
    for (int i = 1; i < COLUMNS - 1; i++) mixed |= (unsigned)(*at[i] ^ separator);
    if (mixed || (separator != ' ' && separator != '\t')) return NULL;
    if (*end == '\r') end++;
    if (*end != '\n') return NULL;
    fields[0] = (field){line, (size_t)(at[0] - line)};
    for (int i = 1; i < COLUMNS; i++) fields[i] = (field){at[i - 1] + 1, (size_t)(at[i] - at[i - 1] - 1)};
    return end + 1;
}

/* The first six fields of a line with one space or tab between them, the normal case, and where the next line
 * starts; NULL for any other line. The text ends with a newline, so the search for gaps does too. */
static inline const uint8_t *split_long(const uint8_t *line, field *fields) {
    const uint8_t *window = line, *start = line, *gap = line;
    uint64_t mask = gaps(window);
    if (*line == '#') return NULL;
    for (int i = 0; i < COLUMNS; i++, start = gap + 1) {
        gap = next_gap(&window, &mask);
        if (gap == start) return NULL;
        if (i < COLUMNS - 1 && *gap != ' ' && *gap != '\t') return NULL;
        fields[i] = (field){start, (size_t)(gap - start)};
    }
    while (*gap != '\n') { /* what stands after the tag does not matter, unless it may be another line */
        if (*gap != ' ' && *gap != '\t' && !(*gap == '\r' && gap[1] == '\n')) return NULL;
        gap = next_gap(&window, &mask);
    }
    return gap + 1;
}

#endif
