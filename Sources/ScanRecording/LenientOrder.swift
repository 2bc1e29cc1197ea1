import IndoorVocabulary

/// The order in time of what a lenient reader returns, which leaves out elements that are out of order.
///
/// If an element is earlier than the one before it, either of them can be wrong. The next one decides: if it isn't earlier
/// than the first of them, the second one is left out. Otherwise the first one was ahead, such as by a clock that was wrong
/// for a moment, and is left out. An element that is also earlier than what was returned before is always left out.
///
/// After a leap of more than `patience`, also from zero to the first element, the elements are held until they last that
/// long, so that all of them can be left out. What was returned can't be: if the clock goes back later, or after a shorter
/// leap, the elements are left out until it has caught up.
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
        let size: Int
    }

    /// The longest leap in time that is believed at once, and how long the elements after a longer one last until it is
    /// believed; in seconds.
    private static var patience: Double { 10 }
    /// The maximum bytes of the elements that are held after a leap. If there are more, it is believed.
    private static var maximumSize: Int { 1 << 20 }

    /// The instant of the latest element in order; nil before the first one.
    private var latest: Instant?
    /// The elements after it, in their order: one, for which the next one is awaited, or those after a leap.
    private var held: [Dated] = []
    private var heldSize = 0
    /// An element after `held` that is earlier than the last of it.
    private var earlier: Dated?
    private var findings: ArraySlice<Finding> = []

    /// Adds the next element of the file.
    ///
    /// - Parameter size: the bytes of the element in the file.
    mutating func add(_ element: Element, at instant: Instant, size: Int) {
        let new = Dated(element: element, instant: instant, size: size)
        guard let last = held.last else { return hold(new) }
        if let latest, instant < latest {
            leaveOut(new, from: last.instant, to: instant)
        } else if instant >= last.instant {
            leaveOutEarlier()
            hold(new)
            if !isInDoubt { settle(held.count - 1) }
        } else if let second = earlier.take() {
            leaveOutHeld(laterThan: second.instant)
            hold(second)
            add(element, at: instant, size: size)
        } else {
            earlier = new
        }
    }

    /// Returns the next finding, in the order in which they are made; nil if more elements must be added.
    mutating func next() -> Finding? { findings.popFirst() }

    /// Decides about the last elements; returns whether there are any.
    mutating func finish() -> Bool {
        leaveOutEarlier()
        settle(held.count)
        return !findings.isEmpty
    }

    /// Whether the held elements follow a leap that is not believed yet.
    private var isInDoubt: Bool {
        guard let first = held.first, let last = held.last else { return false }
        return (latest ?? .zero).seconds(to: first.instant) > Self.patience
            && first.instant.seconds(to: last.instant) < Self.patience && heldSize <= Self.maximumSize
    }

    private mutating func hold(_ dated: Dated) {
        held.append(dated)
        heldSize += dated.size
    }

    /// Takes the first held elements as in order.
    private mutating func settle(_ count: Int) {
        for index in 0..<count {
            findings.append(.inOrder(held[index].element))
            latest = held[index].instant
            heldSize -= held[index].size
        }
        held.removeFirst(count)
    }

    private mutating func leaveOutEarlier() {
        guard let last = held.last, let second = earlier.take() else { return }
        leaveOut(second, from: last.instant, to: second.instant)
    }

    private mutating func leaveOutHeld(laterThan instant: Instant) {
        while let last = held.last, last.instant > instant {
            held.removeLast()
            heldSize -= last.size
            leaveOut(last, from: last.instant, to: instant)
        }
    }

    private mutating func leaveOut(_ dated: Dated, from: Instant, to: Instant) {
        findings.append(.outOfOrder(dated.element, from: from, to: to))
    }
}

extension Array {
    /// Inserts an error at its place in the file, and keeps the first ones. An element that is out of order is found after
    /// those that follow it.
    ///
    /// - Parameters:
    ///   - place: returns the place of an error in the file.
    ///   - limit: the maximum number of errors.
    mutating func insert<Place: Comparable>(_ error: Element, by place: (Element) -> Place, atMost limit: Int) {
        let own = place(error)
        insert(error, at: firstIndex { place($0) > own } ?? count)
        if count > limit { removeLast() }
    }
}
