// The SQL editor: a text area that offers names of the source and words of SQL while one types, at the cursor.
// It knows the names that it is given and nothing else of the page; what runs is checked by the server.

const MOST = 40
const WORD = /(?:("[^"]+"|[A-Za-z_]\w*)\s*\.\s*)?([A-Za-z_]\w*)?$/
const LISTS = /\b(?:from|join)\s+((?:"[^"]*"|[^();"])*?)(?=\b(?:where|group|order|having|limit|offset|join|left|right|full|cross|inner|on|using|union|except|intersect|qualify|select|from)\b|[();]|$)/gi
const LISTED = /^\s*("[^"]+"|[A-Za-z_]\w*)(?:\s+(?:as\s+)?([A-Za-z_]\w*))?/i
const AFTER_FROM = /\b(?:from|join)\s+(?:[\w"]+(?:\s+(?:as\s+)?\w+)?\s*,\s*)*\w*$/i
const bare = (name) => name.replace(/^"|"$/g, "").replaceAll('""', '"').toLowerCase()

// Where the text before the cursor stands: plain SQL, or inside of a text, a quoted name or a comment (with its beginning).
export function place(before) {
  let at = "sql", from = 0
  for (let i = 0; i < before.length; i++) {
    const two = before.slice(i, i + 2), one = before[i]
    if (at === "sql") {
      if (two === "--" || two === "/*") { at = two; from = i; i++ }
      else if (one === "'" || one === '"') { at = one; from = i }
    } else if (at === "--" ? one === "\n" : at === "/*" ? two === "*/" : one === at) {
      if (at === "/*") i++
      at = "sql"
    }
  }
  return { at, from }
}

// Tables that the text names, by their name and by their alias.
export function mentioned(text, words) {
  const found = new Map()
  const byName = new Map(words.tables.map((t) => [t.name.toLowerCase(), t]))
  for (const list of text.matchAll(LISTS)) {
    for (const one of list[1].split(",")) {
      const m = LISTED.exec(one), table = m && byName.get(bare(m[1]))
      if (!table) continue
      found.set(table.name.toLowerCase(), table)
      if (m[2]) found.set(m[2].toLowerCase(), table)
    }
  }
  return found
}

// What may stand at the cursor: {from, begun, exact, offers: [{text, shown, kind}]}, the nearest first; null for nothing.
export function offersAt(text, cursor, words, asked) {
  const before = text.slice(0, cursor), { at, from } = place(before)
  if (at !== "sql" && at !== '"') return null
  const quoted = at === '"'
  const match = quoted ? [null, null, before.slice(from + 1)] : WORD.exec(before)
  const begun = match[2] ?? "", start = quoted ? from : cursor - begun.length
  const owner = quoted ? (/("[^"]+"|[A-Za-z_]\w*)\s*\.\s*$/.exec(before.slice(0, from)) ?? [])[1] : match[1]
  const here = mentioned(text, words)
  const column = (t) => (c) => ({ text: c.sql, shown: c.name, kind: `${c.type} of ${t.name}` })
  const table = (t) => ({ text: t.sql, shown: t.name, kind: "table" })
  let all
  if (owner) {
    const t = here.get(bare(owner)) ?? words.tables.find((x) => x.name.toLowerCase() === bare(owner))
    all = t ? t.columns.map(column(t)) : []
  } else if (AFTER_FROM.test(quoted ? before.slice(0, from) : before)) {
    all = words.tables.map(table)
  } else if (begun || asked) {
    const used = [...new Set(here.values())]
    const rest = words.tables.filter((t) => !used.includes(t))
    const lower = /^[a-z]/.test(begun)
    const word = (k) => ({ text: lower ? k.toLowerCase() : k, shown: lower ? k.toLowerCase() : k, kind: "SQL" })
    all = [...used.flatMap((t) => t.columns.map(column(t))), ...words.tables.map(table),
      ...(quoted ? [] : words.keywords.map(word)), ...rest.flatMap((t) => t.columns.map(column(t)))]
  } else return null
  return { from: start, begun, ...fitting(all, begun.toLowerCase()) }
}

function fitting(all, begun) {
  const ranked = [[], [], []], seen = new Set()
  let exact = false
  for (const offer of all) {
    const name = offer.shown.toLowerCase(), twice = `${offer.text}\u0000${offer.kind === "SQL"}`
    if (seen.has(twice)) continue
    const rank = name.startsWith(begun) ? 0 : begun.length > 1 && name.split(/[_\s]/).some((p) => p.startsWith(begun)) ? 1
      : begun.length > 2 && name.includes(begun) ? 2 : -1
    if (rank < 0) continue
    seen.add(twice)
    if (begun && name === begun) exact = true
    else ranked[rank].push(offer)
  }
  return { exact, offers: ranked.flat().slice(0, MOST) }
}

const boxes = new WeakMap()

export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const box = boxes.get(parentElement) ?? new Box(parentElement)
  boxes.set(parentElement, box)
  box.update(data, setStateValue, setTriggerValue)
  return () => box.close()
}

class Box {
  constructor(root) {
    const find = (selector) => root.querySelector(selector)
    this.area = find("textarea"); this.list = find("ul"); this.spoken = find(".spoken"); this.names = find(".names")
    this.offers = []; this.active = -1; this.from = 0; this.ready = false
    if (this.list.showPopover) this.list.popover = "manual"
    this.area.oninput = (event) => event.isComposing || this.look(false)
    this.area.onkeydown = (event) => this.key(event)
    this.area.onblur = () => { this.close(); this.keep() }
    this.area.onpointerdown = () => this.close()
    this.area.onscroll = () => this.close()
    this.list.onpointerdown = (event) => event.preventDefault()
    this.list.onclick = (event) => {
      const item = event.target.closest("li")
      if (item) this.take(Number(item.dataset.at))
    }
    find(".run").onclick = () => this.run()
  }

  update(data, setState, setTrigger) {
    this.setState = setState; this.setTrigger = setTrigger; this.words = data.words
    const drawn = JSON.stringify(data.words.tables)
    if (drawn !== this.drawn) { this.drawn = drawn; this.drawNames() }
    if (!this.ready || data.source !== this.source) {
      this.area.value = this.kept = data.text
      this.ready = true; this.source = data.source
    }
  }

  drawNames() {
    this.names.replaceChildren(...this.words.tables.map((table, at) => {
      const group = document.createElement("details"), head = document.createElement("summary")
      group.open = at === 0
      head.textContent = table.name
      group.append(head, this.nameButton(table.sql, "the table's name", "table"),
        ...table.columns.map((c) => this.nameButton(c.sql, c.name, c.masked ? `${c.type}, masked` : c.type)))
      return group
    }))
  }

  nameButton(sql, shown, kind) {
    const button = document.createElement("button")
    button.type = "button"
    button.append(span(shown), span(kind, "kind"))
    button.title = `Write ${sql} at the cursor`
    button.onpointerdown = (event) => event.preventDefault()
    button.onclick = () => this.write(sql)
    return button
  }

  write(sql) {
    const { area } = this, before = area.value.slice(0, area.selectionStart), after = area.value.slice(area.selectionEnd)
    const apart = /[\w"')*]$/.test(before) ? " " : ""
    const behind = /^[\w"']/.test(after) ? " " : ""
    area.focus()
    this.insert(area.selectionStart, area.selectionEnd, apart + sql + behind)
    this.close()
    this.say(`${sql} written`)
  }

  insert(from, to, text) {
    this.area.setSelectionRange(from, to)
    this.quiet = true // the text area's own undo keeps this step
    if (!document.execCommand?.("insertText", false, text)) this.area.setRangeText(text, from, to, "end")
    this.quiet = false
  }

  look(asked) {
    if (this.quiet) return
    const cursor = this.area.selectionStart
    const found = this.area.selectionEnd === cursor ? offersAt(this.area.value, cursor, this.words, asked) : null
    if (!found || !found.offers.length) { this.close(); if (asked) this.say("Nothing to offer here"); return }
    this.offers = found.offers; this.from = found.from
    this.draw()
    this.point(found.exact ? -1 : 0)
  }

  draw() {
    this.list.replaceChildren(...this.offers.map((offer, at) => {
      const item = document.createElement("li")
      item.id = `offer-${at}`; item.dataset.at = at
      item.setAttribute("role", "option")
      item.append(span(offer.shown), span(offer.kind, "kind"))
      return item
    }))
    this.list.hidden = false
    if (this.list.popover && !this.list.matches(":popover-open")) this.list.showPopover()
    const { x, y, line } = caret(this.area, this.from)
    const size = this.list.getBoundingClientRect()
    const under = y + line + size.height < innerHeight ? y + line : Math.max(4, y - size.height - 2)
    this.list.style.left = `${Math.max(4, Math.min(x, innerWidth - size.width - 8))}px`
    this.list.style.top = `${under}px`
  }

  point(at) {
    this.active = at
    for (const item of this.list.children) item.setAttribute("aria-selected", String(Number(item.dataset.at) === at))
    if (at >= 0) {
      this.area.setAttribute("aria-activedescendant", `offer-${at}`)
      this.list.children[at].scrollIntoView({ block: "nearest" })
      const offer = this.offers[at]
      this.say(`${offer.shown}, ${offer.kind}, ${at + 1} of ${this.offers.length}`)
    } else {
      this.area.removeAttribute("aria-activedescendant")
    }
  }

  close() {
    if (this.list.popover && this.list.matches(":popover-open")) this.list.hidePopover()
    this.list.hidden = true
    this.active = -1
    this.area.removeAttribute("aria-activedescendant")
  }

  take(at) {
    const offer = this.offers[at]
    const cursor = this.area.selectionStart
    const closing = offer.text.startsWith('"') && this.area.value[cursor] === '"' ? 1 : 0
    this.close()
    const begun = this.area.value.slice(this.from, cursor + closing)
    const rest = offer.text.startsWith(begun) ? begun.length : 0 // only what is missing, so that an undo selects nothing
    this.insert(this.from + rest, cursor + closing, offer.text.slice(rest))
    this.say(`${offer.shown} written`)
  }

  key(event) {
    const open = !this.list.hidden
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") { event.preventDefault(); this.close(); return this.run() }
    if (event.ctrlKey && event.code === "Space") { event.preventDefault(); return this.look(true) }
    if (!open || event.isComposing) return
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      const step = event.key === "ArrowDown" ? 1 : -1, n = this.offers.length
      this.point(this.active < 0 ? (step > 0 ? 0 : n - 1) : (this.active + step + n) % n)
    } else if ((event.key === "Enter" || event.key === "Tab") && this.active >= 0 && !event.shiftKey) {
      event.preventDefault()
      this.take(this.active)
    } else if (event.key === "Escape") {
      event.preventDefault(); event.stopPropagation()
      this.close()
    } else if (["ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown", "Tab"].includes(event.key)) this.close()
  }

  keep() {
    if (this.area.value === this.kept) return
    this.kept = this.area.value
    this.setState("text", this.area.value)
  }

  run() {
    this.kept = this.area.value
    this.setTrigger("run", this.area.value)
  }

  say(text) { this.spoken.textContent = text }
}

function span(text, kind) {
  const made = document.createElement("span")
  made.textContent = text
  if (kind) made.className = kind
  return made
}

// Where a character of a text area stands in the window: a copy with the same look tells.
function caret(area, at) {
  const copy = document.createElement("div"), style = getComputedStyle(area), mark = document.createElement("span")
  for (const name of ["fontFamily", "fontSize", "fontWeight", "lineHeight", "letterSpacing", "padding", "border", "tabSize", "boxSizing"]) {
    copy.style[name] = style[name]
  }
  Object.assign(copy.style, { position: "absolute", visibility: "hidden", whiteSpace: "pre-wrap", overflowWrap: "break-word",
    width: `${area.clientWidth + 2}px`, left: "0", top: "0" })
  copy.textContent = area.value.slice(0, at)
  mark.textContent = area.value.slice(at, at + 1) || "."
  copy.append(mark)
  area.parentElement.append(copy)
  const place = mark.getBoundingClientRect(), whole = copy.getBoundingClientRect(), own = area.getBoundingClientRect()
  copy.remove()
  return { x: own.left + place.left - whole.left - area.scrollLeft, y: own.top + place.top - whole.top - area.scrollTop,
    line: parseFloat(style.lineHeight) || 20 }
}
