import IndoorVocabulary

// The state of the alerts as bytes. Version 1: the rules by their signatures, and the situations of tags, with the index
// of the rule, the tag, the side and the alert. A side that doesn't count yet begins anew.
extension AlertMachine {
    private static let version: UInt8 = 1

    /// Returns the alerts and the places of tags in the areas.
    package func snapshot() -> [UInt8] {
        var writer = BinaryWriter(reservingCapacity: 64 * situations.count)
        writer.write(UInt16(clamping: rules.list.count))
        for rule in rules.list { for text in [rule.signature, rule.name] { writer.write(text) } }
        writer.write(UInt32(clamping: situations.count))
        for (pair, situation) in situations.sorted(by: { isBefore($0.key, $1.key) }) {
            writer.write(UInt16(clamping: pair.rule))
            writer.write(pair.tag.description)
            writer.write(situation.side.map { $0 ? UInt8(1) : 0 } ?? 2)
            writer.write(UInt8(situation.alert == nil ? 0 : 1))
            guard let alert = situation.alert else { continue }
            writer.write(alert.id)
            for instant in [alert.since, alert.raised, alert.latest] { writer.write(instant.nanoseconds) }
        }
        return SnapshotFrame.frame(writer.bytes, kind: "ILAM", version: Self.version)
    }

    /// Continues from a snapshot of an earlier start. Returns the ends of alerts whose rule or tag has gone.
    ///
    /// - Throws: ``FleetSnapshotError`` if the bytes aren't a snapshot, or are damaged. In that case, nothing changes.
    package mutating func restore(_ bytes: [UInt8], at now: Instant) throws(FleetSnapshotError) -> [AlertEvent] {
        let content = try SnapshotFrame.content(of: bytes, kind: "ILAM", version: Self.version)
        var machine = self
        var events: [AlertEvent] = []
        do throws(BinaryReader.Failure) {
            try machine.read(content, at: now, &events)
        } catch { throw .invalid(offset: error.offset) }
        self = machine
        return events
    }

    private mutating func read(
        _ content: [UInt8], at now: Instant, _ events: inout [AlertEvent]
    ) throws(BinaryReader.Failure) {
        var reader = BinaryReader(content)
        var earlier: [(signature: String, name: String)] = []
        for _ in 0..<(try reader.number(UInt16.self)) { earlier.append((try reader.text(), try reader.text())) }
        for _ in 0..<(try reader.number(UInt32.self)) {
            let start = reader.offset
            let index = Int(try reader.number(UInt16.self))
            guard index < earlier.count, let tag = TagKey(try reader.text()) else {
                throw BinaryReader.Failure(offset: start)
            }
            var situation = Situation()
            let side = try reader.number(UInt8.self)
            situation.side = side < 2 ? side == 1 : nil
            if try reader.number(UInt8.self) == 1 {
                let id = try reader.text()
                var times: [Instant] = []
                // The clock can have been ahead at the earlier start.
                for _ in 0..<3 { times.append(min(Instant(nanoseconds: try reader.number()), now)) }
                situation.alert = Alert(id: id, since: times[0], raised: times[1], latest: times[2])
            }
            let rule = rules.list.firstIndex { $0.signature == earlier[index].signature }
            if let rule, selects(tag, by: rule) {
                restore(situation, of: Pair(rule: rule, tag: tag))
            } else if let alert = situation.alert,
                let condition = Self.condition(of: earlier[index].signature)
            {
                events.append(
                    AlertEvent(
                        id: nextID(), alert: alert.id, state: .cleared, rule: earlier[index].name,
                        condition: condition, tag: tag, instant: now, since: now,
                        reason: rule == nil ? .ruleRemoved : .tagRemoved))
            }
        }
        guard reader.isAtEnd else { throw BinaryReader.Failure(offset: reader.offset) }
    }

    private static func condition(of signature: String) -> AlertRule.Condition? {
        signature.split(separator: "\u{1F}", maxSplits: 1, omittingEmptySubsequences: false).first
            .flatMap { AlertRule.Condition(rawValue: String($0)) }
    }
}
