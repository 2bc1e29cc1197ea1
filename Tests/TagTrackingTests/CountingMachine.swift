import IndoorVocabulary
import TagTracking

/// A machine that counts the readings of each tag, and emits a position-like output for each tag with new readings.
struct CountingMachine: PartitionMachine, Equatable {
    let epoch: UInt64
    /// The readings of each tag by their instants, which are unique in these tests.
    private(set) var seen: [String: [Int64]] = [:]
    private var changed: Set<String> = []
    private var sequence: UInt64 = 0

    init(epoch: UInt64, snapshot: [UInt8]?) throws {
        self.epoch = epoch
        guard let snapshot else { return }
        var reader = BinaryReader(snapshot)
        while !reader.isAtEnd {
            let tag = try reader.text()
            for _ in 0..<Int(try reader.number(UInt32.self)) { seen[tag, default: []].append(try reader.number()) }
        }
    }

    var wakeAt: Instant? { changed.isEmpty ? nil : Instant(nanoseconds: .min) }

    mutating func observe(_ reading: TagReading) {
        seen[reading.tag.description, default: []].append(reading.instant.nanoseconds)
        changed.insert(reading.tag.description)
    }

    mutating func advance(to now: Instant) -> [FleetOutput] {
        defer { changed = [] }
        return changed.sorted().compactMap { tag in
            sequence += 1
            guard let key = TagKey(tag) else { return nil }
            return FleetOutput(
                tag: key, name: "\(seen[tag]?.count ?? 0)", epoch: epoch, sequence: sequence, instant: now,
                content: .present)
        }
    }

    func snapshot() -> [UInt8] {
        var writer = BinaryWriter()
        for (tag, instants) in seen.sorted(by: { $0.key < $1.key }) {
            writer.write(tag)
            writer.write(UInt32(instants.count))
            for instant in instants { writer.write(instant) }
        }
        return writer.bytes
    }
}
