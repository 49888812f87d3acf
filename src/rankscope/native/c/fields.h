/* The fields of a line. */
#ifndef RANKSCOPE_FIELDS_H
#define RANKSCOPE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "words.h"

#define WINDOW 64 /* bytes looked at in one step, and readable bytes after every block */

typedef struct {
    const uint8_t *at;
    size_t length;
} field;

enum { TOPIC = 0, DOCUMENT = 2, RANK = 3, SCORE = 4, TAG = 5, COLUMNS = 6 };

static inline int is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Bit i: byte i of the window is a space or a control character. */
static inline uint64_t gaps(const uint8_t *p) {
    uint64_t mask = 0;
#if defined(RS_SSE2)
    const __m128i space = _mm_set1_epi8(' ');
    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(p + 16 * i));
        int low = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes));
        mask |= (uint64_t)(uint32_t)low << (16 * i);
    }
#else
    for (int i = 0; i < WINDOW; i++) mask |= (uint64_t)(p[i] <= ' ') << i;
#endif
    return mask;
}

/* The length of the Unicode line end (NEL, U+2028, U+2029) at p, or 0. */
static inline size_t unicode_end(const uint8_t *p, const uint8_t *end) {
    if (*p == 0xC2) return end - p > 1 && p[1] == 0x85 ? 2 : 0;
    return *p == 0xE2 && end - p > 2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9) ? 3 : 0;
}

/* The first Unicode line end from p on, or the end. */
static inline const uint8_t *next_unicode_end(const uint8_t *p, const uint8_t *end) {
    const uint64_t high = UINT64_C(0x8080808080808080);
    while (p < end) {
        if (end - p >= 32 && !((word_at(p) | word_at(p + 8) | word_at(p + 16) | word_at(p + 24)) & high)) {
            p += 32; /* nothing but ASCII, the normal case */
        } else {
            const uint8_t *stop = end - p > 32 ? p + 32 : end;
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
