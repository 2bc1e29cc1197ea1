import IndoorVocabulary

/// The order in time of what a lenient reader returns, which leaves out single elements that are out of order.
///
/// If an element is earlier than the one before it, either of them can be wrong. The next one decides: if it isn't earlier
/// than the first of them, the second one is left out. Otherwise the first one was ahead, such as by a clock that was wrong
/// for a moment, and is left out. An element that is also earlier than what was returned before is always left out.
struct LenientOrder<Element> {
    /// What the elements around an element show about it.
    enum Finding {
        case inOrder(Element)
        /// The element is left out, as time goes back between these instants, of which one is its own.
        case outOfOrder(Element, from: Instant, to: Instant)
    }

    private struct Dated {
        let element: Element
        let instant: Instant
    }

    /// The instant of the latest element in order; nil before the first one.
    private var latest: Instant?
    /// The element after it, for which the next one is awaited.
    private var held: Dated?
    /// An earlier element after `held`.
    private var earlier: Dated?
    private var findings: ArraySlice<Finding> = []

    /// Adds the next element of the file.
    mutating func add(_ element: Element, at instant: Instant) {
        let new = Dated(element: element, instant: instant)
        guard let held else {
            self.held = new
            return
        }
        if let latest, instant < latest {
            leaveOut(new, from: held.instant, to: instant)
        } else if instant >= held.instant {
            settle()
            self.held = new
        } else if let second = earlier.take() {
            leaveOut(held, from: held.instant, to: second.instant)
            self.held = second
            add(element, at: instant)
        } else {
            earlier = new
        }
    }

    /// Returns the next finding, in the order in which they are made; nil if more elements must be added.
    mutating func next() -> Finding? { findings.popFirst() }

    /// Decides about the last elements; returns whether there are any.
    mutating func finish() -> Bool {
        settle()
        return !findings.isEmpty
    }

    /// Takes the held element as in order, and not an earlier one after it.
    private mutating func settle() {
        guard let first = held.take() else { return }
        if let second = earlier.take() { leaveOut(second, from: first.instant, to: second.instant) }
        findings.append(.inOrder(first.element))
        latest = first.instant
    }

    private mutating func leaveOut(_ dated: Dated, from: Instant, to: Instant) {
        findings.append(.outOfOrder(dated.element, from: from, to: to))
    }
}
