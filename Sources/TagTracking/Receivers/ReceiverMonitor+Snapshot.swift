import IndoorVocabulary
import VenueModel

// The state of a monitor as bytes. Version 1, in little-endian order: the detection shares, and the
// state of each receiver after its name. The readings for the search of places are few minutes old and aren't written.
extension ReceiverMonitor {
    private static let version: UInt8 = 1

    /// Returns the state of all receivers.
    package func snapshot() -> [UInt8] {
        var writer = BinaryWriter(reservingCapacity: 1024 * receivers.count)
        writer.write(UInt16(truncatingIfNeeded: shares.trials.count))
        for number in shares.trials + shares.hits { writer.write(number) }
        writer.write(UInt32(truncatingIfNeeded: receivers.count))
        for (receiver, state) in zip(receivers, states) {
            writer.write(receiver.id)
            state.write(to: &writer)
        }
        return SnapshotFrame.frame(writer.bytes, kind: "ILRM", version: Self.version)
    }

    /// Creates a monitor that continues from a snapshot. Receivers that the snapshot doesn't contain are healthy; those
    /// that the venue doesn't have any more are skipped.
    ///
    /// - Throws: `FleetSnapshotError` if the snapshot is damaged.
    package init(venue: Venue, restoring snapshot: [UInt8]) throws(FleetSnapshotError) {
        self.init(venue: venue)
        let content = try SnapshotFrame.content(of: snapshot, kind: "ILRM", version: Self.version)
        var reader = BinaryReader(content)
        do {
            try read(&reader)
        } catch {
            throw .invalid(offset: error.offset)
        }
    }

    private mutating func read(_ reader: inout BinaryReader) throws(BinaryReader.Failure) {
        var (shares, states) = (self.shares, self.states)
        guard Int(try reader.number(UInt16.self)) == shares.trials.count else {
            throw BinaryReader.Failure(offset: reader.offset)
        }
        for bin in shares.trials.indices { shares.trials[bin] = try reader.count() }
        for bin in shares.hits.indices {
            let start = reader.offset
            shares.hits[bin] = try reader.count()
            guard shares.hits[bin] <= shares.trials[bin] else { throw BinaryReader.Failure(offset: start) }
        }
        for _ in 0..<(try reader.number(UInt32.self)) {
            let index = directory.index(of: try reader.text())
            let state = try State(from: &reader)
            if let index { states[index] = state }
        }
        guard reader.isAtEnd else { throw BinaryReader.Failure(offset: reader.offset) }
        begin(with: states, shares: shares)
    }
}

extension ReceiverMonitor.State {
    /// A bound in dB on the difference between two RSSIs.
    private static let greatestDifference = 1000.0
    /// The maximum number of comparisons; earlier versions had a higher limit than the present one.
    private static let greatestCount = 60.0

    fileprivate func write(to writer: inout BinaryWriter) {
        let index = ReceiverEvent.Health.allCases.firstIndex(of: health) ?? 0
        writer.write(UInt8(truncatingIfNeeded: index))
        writer.write(UInt8(isMoved ? 1 : 0))
        writer.write(clock ?? "")
        writer.write(detection.first?.nanoseconds ?? .min)
        writer.write(detection.latest?.nanoseconds ?? .min)
        for number in [detection.longestGap, detection.expected, detection.received] { writer.write(number) }
        for sources in [estimate.tags, estimate.nodes] {
            writer.write(UInt16(truncatingIfNeeded: sources.count))
            for source in sources {
                writer.write(source.id)
                writer.write(Float(source.mean))
                writer.write(Float(source.count))
                writer.write(UInt32(truncatingIfNeeded: source.readings))
                writer.write(source.latest.nanoseconds)
            }
        }
    }

    fileprivate init(from reader: inout BinaryReader) throws(BinaryReader.Failure) {
        self.init()
        let start = reader.offset
        let (index, moved) = (Int(try reader.number(UInt8.self)), try reader.number(UInt8.self))
        guard ReceiverEvent.Health.allCases.indices.contains(index) else { throw BinaryReader.Failure(offset: start) }
        health = ReceiverEvent.Health.allCases[index]
        isMoved = moved == 1
        let text = try reader.text()
        clock = text.isEmpty ? nil : text
        let (first, latest) = (try reader.number(Int64.self), try reader.number(Int64.self))
        detection.first = first == .min ? nil : Instant(nanoseconds: first)
        detection.latest = latest == .min ? nil : Instant(nanoseconds: latest)
        detection.longestGap = try reader.count()
        detection.expected = try reader.count()
        detection.received = try reader.count()
        estimate.tags = try Self.sources(&reader)
        estimate.nodes = try Self.sources(&reader)
    }

    private static func sources(
        _ reader: inout BinaryReader
    ) throws(BinaryReader.Failure) -> [ReceiverOffsetEstimate.Source] {
        var sources: [ReceiverOffsetEstimate.Source] = []
        let first = reader.offset
        let number = Int(try reader.number(UInt16.self))
        guard number <= ReceiverOffsetEstimate.sourceLimit else { throw BinaryReader.Failure(offset: first) }
        for _ in 0..<number {
            let id = try reader.number(UInt64.self)
            let start = reader.offset
            let (mean, count) = (Double(try reader.float()), Double(try reader.float()))
            // A negative count would make the next mean infinite.
            guard abs(mean) <= greatestDifference, (0...greatestCount).contains(count) else {
                throw BinaryReader.Failure(offset: start)
            }
            let readings = Int(try reader.number(UInt32.self))
            sources.append(
                ReceiverOffsetEstimate.Source(
                    id: id, mean: mean, count: min(count, ReceiverOffsetEstimate.countLimit), readings: readings,
                    latest: Instant(nanoseconds: try reader.number())))
        }
        return sources
    }
}

extension BinaryReader {
    /// Reads a finite floating-point number of at least 0.
    fileprivate mutating func count() throws(Failure) -> Double {
        let start = offset
        let value = try double()
        guard value.isFinite, value >= 0 else { throw Failure(offset: start) }
        return value
    }
}
