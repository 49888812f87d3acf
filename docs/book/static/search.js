/* Ranks the sections of all pages for a query, and shows where they match. It replaces the search of Sphinx, which fetches
   every page that it finds: a browser forbids that for a site opened from a folder. `SECTIONS` is in sections.js. */
"use strict";

(() => {
  const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_@]+/u).filter(Boolean);
  const stem = (word) => word.replace(/(?<=..)(ies|y)$/, "i").replace(/(?<=...[^s])s$/, "");
  const stems = (text) => words(text).map(stem);
  const TITLE = 4; // Weight of a word in a title, relative to one in the text.
  const PHRASE = 3; // Factor of a section that has all words of the query in their order.

  /* BM25 of the sections, with the words of titles repeated. */
  const rank = (query) => {
    const terms = [...new Set(stems(query))];
    const phrase = stems(query).join(" ");
    const sections = SECTIONS.map(([url, page, title, text]) => {
      const head = stems(title), body = stems(text);
      const counts = terms.map((term) => {
        const matches = (list) => list.reduce((sum, word) => sum + (word === term ? 1 : 0), 0);
        return TITLE * (matches(head) + (page === title ? 0 : 0.25 * matches(stems(page)))) + matches(body);
      });
      return { url, page, title, text, counts, length: head.length + body.length, head: ` ${head.join(" ")} `, body: ` ${body.join(" ")} ` };
    });
    const average = sections.reduce((sum, section) => sum + section.length, 0) / Math.max(1, sections.length);
    const rarity = terms.map((_, k) => {
      const having = sections.filter((section) => section.counts[k] > 0).length;
      return Math.log(1 + (sections.length - having + 0.5) / (having + 0.5));
    });
    const found = [];
    for (const section of sections) {
      if (!terms.length || section.counts.some((count) => count === 0)) continue;
      let score = 0;
      section.counts.forEach((count, k) => {
        score += (rarity[k] * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * section.length) / average));
      });
      if (section.head.trim() === phrase || (terms.length > 1 && section.head.includes(` ${phrase} `))) score *= 2 * PHRASE;
      else if (terms.length > 1 && section.body.includes(` ${phrase} `)) score *= PHRASE;
      // Guides explain; generated pages of the reference repeat, and lists of references only name.
      if (section.url.startsWith("reference/") || section.title === "References") score /= 2;
      found.push({ ...section, score });
    }
    found.sort((a, b) => b.score - a.score || (a.url < b.url ? -1 : 1));
    const pages = new Set();
    return found.filter((section) => {
      const page = section.url.split("#")[0];
      return !pages.has(page) && pages.add(page);
    });
  };

  /* The words around the first match, with all matches marked. */
  const snippet = (text, query) => {
    const wanted = new Set(stems(query));
    const tokens = [...text.matchAll(/[\p{L}\p{N}_@]+/gu)];
    const isMatch = (token) => wanted.has(stem(token[0].toLowerCase()));
    let first = tokens.findIndex((token, k) => wanted.size > 1 && isMatch(token) && tokens[k + 1] && isMatch(tokens[k + 1]));
    if (first < 0) first = Math.max(0, tokens.findIndex(isMatch));
    const from = tokens[Math.max(0, first - 12)]?.index ?? 0;
    const last = tokens[Math.min(tokens.length - 1, first + 24)];
    const to = last ? last.index + last[0].length : text.length;
    const line = document.createElement("p");
    line.className = "context";
    let end = from;
    if (from > 0) line.append("… ");
    for (const token of tokens.filter((t) => t.index >= from && t.index < to && isMatch(t))) {
      line.append(text.slice(end, token.index));
      line.appendChild(document.createElement("mark")).textContent = token[0];
      end = token.index + token[0].length;
    }
    line.append(text.slice(end, to), to < text.length ? " …" : "");
    return line;
  };

  Search.query = (query) => {
    const results = rank(query);
    for (const { url, page, title, text, score } of results.slice(0, 50)) {
      const item = Search.output.appendChild(document.createElement("li"));
      const link = item.appendChild(document.createElement("a"));
      link.href = url;
      link.dataset.score = score.toFixed(2);
      link.textContent = title === page ? page : `${page} › ${title}`;
      item.appendChild(snippet(text, query));
    }
    Search.stopPulse();
    Search.title.innerText = "Search results";
    const count = results.length === 1 ? "1 page has" : `${results.length.toLocaleString("en")} pages have`;
    Search.status.innerText = results.length ? `${count} all words; best first.` : "No page has all these words.";
  };
})();
