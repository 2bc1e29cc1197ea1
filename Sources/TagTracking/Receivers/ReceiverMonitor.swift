import CMath
import IndoorVocabulary
import LocalizationSession
import SessionMetrics
import VenueModel

/// The health and the RSSI offsets of the receivers of a venue, from the tags that they receive.
///
/// The caller adds the evidence of its machines, advances the monitor, and gives the offsets back to the machines:
///
/// ```swift
/// monitor.observe(machine.takeReceiverEvidence())
/// let events = monitor.advance(to: now)
/// machine.receiverOffsets = monitor.offsets
/// ```
///
/// The monitor is a value with time as an input: the same calls give the same events and offsets. An offset needs at
/// least three tags, or two other receivers that transmit, so that a single tag never changes it. In a venue with a
/// radio map, the survey already contains the offsets; the monitor then learns only later changes.
package struct ReceiverMonitor: Sendable {
    /// The state of one receiver.
    struct State: Hashable, Sendable {
        var detection = ReceiverDetection()
        var estimate = ReceiverOffsetEstimate()
        var placement = ReceiverPlacement()
        var health = ReceiverEvent.Health.healthy
        /// The time since which the receiver sends again after a silence.
        var returned: Instant?
        /// The latest result of the search for a better place, and the number of results in a row that contradict
        /// ``isMoved``.
        var finding: ReceiverPlacement.Finding?
        var isMoved = false
        var changes = 0
        /// The error of the receiver's clock in words; nil if the clock isn't wrong.
        var clock: String?
    }

    /// The time between two tests of the receivers' health, and between two searches for their places.
    private static let healthInterval = Duration.seconds(5)
    private static let placeInterval = Duration.seconds(60)
    /// The standard deviation in dB of the part of an offset that the errors of positions cause.
    private static let systematicDeviation = 1.5

    /// The receivers, in the order of the venue.
    package let receivers: [VenueReceiver]
    /// The offset of each receiver in dB: the difference between its RSSI and that of the other receivers. The mean of
    /// all learned offsets is 0.
    package private(set) var offsets: [Double]

    let directory: ReceiverDirectory
    var states: [State]
    /// The power of each receiver in dBm that the expected RSSIs contain; not a number with a radio map, which has them itself.
    private let powers: [Double]
    /// The losses through a floor and through a wall in dB, which the expected RSSIs contain without a radio map.
    private let losses: [Double]
    var shares = DetectionShares()
    private let maps: [MapID: VenueMap]
    /// The hash of each receiver's name, by which other receivers' estimates refer to it.
    private let nodeIDs: [UInt64]
    private var testedHealth: Instant?
    private var testedPlaces: Instant?

    /// Creates a monitor without evidence. All receivers are healthy.
    package init(venue: Venue) {
        receivers = venue.receivers
        nodeIDs = venue.receivers.map { TagKey.name($0.id).mixedHash }
        directory = ReceiverDirectory(venue.receivers)
        maps = Dictionary(venue.maps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let signal = SettingsStack().resolved(in: venue).localization.positioning.signal
        powers = venue.receivers.map { venue.radioMap == nil ? $0.measuredPower ?? signal.defaultPower : .nan }
        losses = [signal.floorLoss, signal.wallLoss]
        offsets = Array(repeating: 0, count: receivers.count)
        states = Array(repeating: State(), count: receivers.count)
    }

    /// Returns the health of a receiver; nil for a name that the venue doesn't have.
    package func health(of receiver: String) -> ReceiverEvent.Health? {
        directory.index(of: receiver).map { states[$0].health }
    }

    /// The time of the latest message of each receiver, by its name.
    package var latestMessages: [String: Instant] {
        var latest: [String: Instant] = [:]
        for (receiver, state) in zip(receivers, states) { latest[receiver.id] = state.detection.latest }
        return latest
    }

    /// Adds a message of a receiver without readings, such as a status.
    package mutating func observeMessage(of receiver: String, at instant: Instant) {
        var evidence = ReceiverEvidence()
        guard let index = directory.index(of: receiver) else { return }
        evidence.addMessage(of: index, at: instant)
        observe(evidence)
    }

    /// Sets whether the clock of a receiver runs wrong, as the intake of messages determines.
    ///
    /// - Parameter error: the error in words, such as "its clock is 3,600 s ahead"; nil if the clock isn't wrong.
    package mutating func setClockError(_ error: String?, of receiver: String) {
        if let index = directory.index(of: receiver) { states[index].clock = error }
    }

    /// Adds the evidence of a machine.
    ///
    /// - Precondition: the machine has the same receivers.
    package mutating func observe(_ evidence: ReceiverEvidence) {
        for sample in evidence.samples { observe(sample) }
        for node in evidence.nodes {
            states[node.receiver].estimate.addNode(
                nodeIDs[node.transmitter], difference: node.rssi - node.common, at: node.instant)
        }
        for (index, messages) in evidence.messages {
            let isLearning = states[index].health != .silent
            states[index].detection.add(messages, isLearning: isLearning)
            if !isLearning, states[index].returned == nil { states[index].returned = messages.latest }
        }
    }

    private mutating func observe(_ sample: ReceiverEvidence.Sample) {
        for link in sample.links {
            if sample.isStanding {
                if let share = shares.share(expected: link.expected), share > 0.05 {
                    states[link.receiver].detection.add(
                        tag: sample.tag, probability: share, isHit: link.isHeard)
                }
                // A receiver that isn't healthy gives no evidence about the others.
                if states[link.receiver].health == .healthy {
                    shares.add(expected: link.expected, isHit: link.isHeard)
                }
            }
            guard let rssi = link.rssi else { continue }
            states[link.receiver].estimate.addTag(
                sample.tag, difference: rssi - link.common, readings: link.count, at: sample.instant)
            states[link.receiver].placement.add(
                ReceiverPlacement.Sample(
                    tag: sample.tag, instant: sample.instant, mapID: sample.mapID, point: sample.point, rssi: rssi,
                    common: link.common))
        }
    }

    /// Updates the offsets, and returns the changes of health until an instant, in the order of the receivers.
    ///
    /// - Parameter now: the time on the timeline of the readings. An instant before that of an earlier call has no
    ///   effect.
    package mutating func advance(to now: Instant) -> [ReceiverEvent] {
        guard testedHealth.map({ $0.duration(to: now) >= Self.healthInterval }) ?? true else { return [] }
        testedHealth = now
        for index in states.indices {
            states[index].detection.fade(to: now)
            states[index].estimate.discard(at: now)
            states[index].placement.discard(at: now)
        }
        if testedPlaces.map({ $0.duration(to: now) >= Self.placeInterval }) ?? true {
            testedPlaces = now
            testPlaces()
        }
        for index in states.indices { states[index].estimate.followChange(at: now) }
        updateOffsets()
        let tests = ReceiverTests(states: states, differences: differences(at: now), now: now)
        var events: [ReceiverEvent] = []
        for index in states.indices {
            guard let change = tests.change(of: index) else { continue }
            states[index].health = change.health
            states[index].returned = nil
            events.append(
                ReceiverEvent(
                    receiver: receivers[index].id, instant: now, health: change.health, text: change.text))
        }
        return events
    }

    /// Moves the times of all evidence, after the clock was set: everything is as old as before.
    package mutating func move(by step: Duration) {
        testedHealth = testedHealth?.advanced(by: step)
        testedPlaces = testedPlaces?.advanced(by: step)
        for index in states.indices { states[index].move(by: step) }
    }

    private mutating func testPlaces() {
        let deviations = zip(states, receivers).map { $0.placement.deviation(for: $1) }
        let known = deviations.compactMap(\.self).sorted()
        guard let usual = known.isEmpty ? nil : known[known.count / 2] else { return }
        for index in states.indices {
            guard let deviation = deviations[index], let map = maps[receivers[index].mapID] else { continue }
            // The search takes time, and a receiver with usual errors hasn't moved.
            let isSuspicious = deviation > ReceiverTests.leastDeviation && deviation > usual * 1.2
            let finding =
                isSuspicious ? states[index].placement.finding(for: receivers[index], on: map) : nil
            states[index].note(finding)
        }
    }

    private mutating func updateOffsets() {
        let powers = transmitterPowers()
        let estimates = states.map { state in state.isMoved ? nil : state.estimate.offset(powers: powers)?.value }
        let known = estimates.compactMap(\.self)
        let mean = known.count > 1 ? known.reduce(0, +) / Double(known.count) : 0
        // The offset of a single receiver can't be distinguished from the mean power of the tags.
        let found = estimates.map { known.count > 1 ? Self.significant(($0 ?? mean) - mean) : 0 }
        // The smaller ones became 0, so the mean changed.
        let count = Double(known.count)
        let rest = count > 1 ? found.reduce(0, +) / count : 0
        offsets = zip(found, estimates).map { $1 == nil ? 0 : $0 - rest }
    }

    /// Returns the difference in dB between the offset of each receiver and the median of the others; nil for a
    /// receiver whose offset isn't known, or if fewer than three offsets are known: with two, either could be wrong.
    ///
    /// The difference is that of the latest comparisons, so that a change is detected soon. Earlier comparisons also
    /// contain the errors of positions that the receiver itself has pulled towards its place.
    private func differences(at now: Instant) -> [ReceiverTests.Difference?] {
        let powers = transmitterPowers()
        func relative(_ values: [Double?]) -> [Double?] {
            let sorted = values.compactMap(\.self).sorted()
            guard sorted.count >= 3 else { return values.map { _ in nil } }
            // The median of the others is that of all, or its neighbour.
            return values.map { $0.map { $0 - sorted[sorted.count / 2] } }
        }
        let latest = states.map { $0.isMoved ? nil : $0.estimate.offset(powers: powers, latestUntil: now) }
        let all = relative(states.map { $0.isMoved ? nil : $0.estimate.offset(powers: powers)?.value })
        return zip(zip(latest, relative(latest.map { $0?.value })), all).map { latest, all in
            guard let value = latest.1, let precision = latest.0?.precision, let all else { return nil }
            return ReceiverTests.Difference(latest: value, deviation: 1 / precision.squareRoot(), all: all)
        }
    }

    /// Returns a shrunk offset: 0 if the errors of positions can cause it, and almost the same value from a few
    /// decibels on.
    ///
    /// The positions near a corner have the same error for all tags, which more tags don't reduce. Source: L. Breiman,
    /// *Better Subset Regression Using the Nonnegative Garrote*, Technometrics 37(4), 1995.
    private static func significant(_ offset: Double) -> Double {
        guard abs(offset) > systematicDeviation else { return 0 }
        return offset * (1 - systematicDeviation * systematicDeviation / (offset * offset))
    }

    /// Returns the deviation in dB of the power of each receiver that at least two others receive.
    private func transmitterPowers() -> [UInt64: Double] {
        var sums: [UInt64: (sum: Double, count: Double)] = [:]
        for (index, state) in states.enumerated() {
            for node in state.estimate.nodes {
                let old = sums[node.id] ?? (0, 0)
                sums[node.id] = (old.sum + node.mean - offsets[index], old.count + 1)
            }
        }
        return sums.filter { $0.value.count >= 2 }.mapValues { $0.sum / $0.count }
    }

    /// Returns a monitor with the evidence of this one and of another worker's.
    ///
    /// Each worker keeps its own monitor, and each time merges the monitors of all workers again. Merging a merged
    /// monitor again would count evidence twice. The offsets of a tag or a transmitter that both have are combined in
    /// proportion to their precision. The result has the health of this monitor, and the next ``advance(to:)`` tests
    /// it.
    ///
    /// - Precondition: both monitors have the same receivers.
    package func merged(with other: ReceiverMonitor) -> ReceiverMonitor {
        precondition(receivers == other.receivers, "monitors of different venues")
        var merged = self
        for index in states.indices { merged.states[index].merge(other.states[index]) }
        for bin in shares.trials.indices {
            merged.shares.trials[bin] += other.shares.trials[bin]
            merged.shares.hits[bin] += other.shares.hits[bin]
        }
        merged.testedHealth = nil
        merged.updateOffsets()
        return merged
    }

    /// Takes over the health of the receivers from an earlier merged monitor, before the next ``advance(to:)``.
    package mutating func continueHealth(of earlier: ReceiverMonitor) {
        for (index, old) in earlier.states.enumerated() {
            states[index].health = old.health
            states[index].returned = old.returned
            guard old.health == .silent, old.returned == nil, let latest = states[index].detection.latest,
                latest > old.detection.latest ?? Instant(nanoseconds: .min)
            else { continue }
            // The receiver sends again, to this worker or to another one.
            states[index].returned = latest
        }
        testedHealth = nil
    }

    /// Sets the state from a snapshot.
    mutating func begin(with states: [State], shares: DetectionShares) {
        self.states = states
        self.shares = shares
        updateOffsets()
    }
}

extension ReceiverMonitor.State {
    /// Adds the result of a search for a better place; two results in a row change the conclusion.
    mutating func note(_ finding: ReceiverPlacement.Finding?) {
        self.finding = finding
        let contradicts = ReceiverTests.isElsewhere(finding, isMoved: isMoved) != isMoved
        changes = contradicts ? changes + 1 : 0
        guard changes >= 2 else { return }
        isMoved.toggle()
        changes = 0
    }

    fileprivate mutating func move(by step: Duration) {
        detection.move(by: step)
        estimate.move(by: step)
        for index in placement.samples.indices {
            placement.samples[index].instant = placement.samples[index].instant.advanced(by: step)
        }
        returned = returned?.advanced(by: step)
    }

    fileprivate mutating func merge(_ other: Self) {
        detection.merge(other.detection)
        estimate = estimate.merged(with: other.estimate)
        placement.merge(other.placement)
        clock = clock ?? other.clock
    }
}

/// A change of a receiver's health.
package struct ReceiverEvent: Hashable, Sendable {
    /// The health of a receiver.
    package enum Health: String, Hashable, Sendable, CaseIterable {
        /// The receiver works.
        case healthy
        /// The receiver sends no messages.
        case silent
        /// The receiver sends messages, but doesn't receive tags that its neighbours receive.
        case deaf
        /// The RSSI of the receiver contradicts its place.
        case moved
        /// The clock of the receiver runs wrong.
        case clockWrong
        /// The receiver measures many decibels more or less than the others. Positions take the difference into
        /// account.
        case miscalibrated
    }

    /// The receiver's name in the venue.
    package var receiver: String
    /// The time of the change.
    package var instant: Instant
    /// The new health.
    package var health: Health
    /// The reason in words, with figures.
    package var text: String

    /// Creates an event.
    package init(receiver: String, instant: Instant, health: Health, text: String) {
        self.receiver = receiver
        self.instant = instant
        self.health = health
        self.text = text
    }
}

extension ReceiverMonitor {
    /// The metrics of the receivers: their number by health, and the largest learned offset.
    package var families: [MetricFamily] {
        let health = ReceiverEvent.Health.allCases.map { health in
            MetricFamily.Sample(
                .number(Double(states.count { $0.health == health })), labels: [.init("health", health.rawValue)])
        }
        let largest = offsets.map(abs).max() ?? 0
        return [
            MetricFamily("indoorloc_fleet_receivers", .gauge, help: "Receivers by health.", samples: health),
            MetricFamily(
                "indoorloc_fleet_receiver_offset", .gauge,
                help: "The largest learned offset of a receiver's RSSI in dB, without its sign.",
                samples: [.init(.number(largest))]),
        ]
    }
}

// The state of a monitor as bytes. Version 2, in little-endian order: the detection shares, the losses through a floor and a
// wall, and the state of each receiver after its name and its presumed power. The readings for the search of places are few
// minutes old and aren't written.
extension ReceiverMonitor {
    private static let version: UInt8 = 2

    /// Returns the state of all receivers.
    package func snapshot() -> [UInt8] {
        var writer = BinaryWriter(reservingCapacity: 1024 * receivers.count)
        writer.write(UInt16(truncatingIfNeeded: shares.trials.count))
        for number in shares.trials + shares.hits { writer.write(number) }
        for loss in losses { writer.write(loss) }
        writer.write(UInt32(truncatingIfNeeded: receivers.count))
        for (index, receiver) in receivers.enumerated() {
            writer.write(receiver.id)
            writer.write(powers[index])
            states[index].write(to: &writer)
        }
        return SnapshotFrame.frame(writer.bytes, kind: "ILRM", version: Self.version)
    }

    /// Creates a monitor that continues from a snapshot. Receivers that the snapshot doesn't contain are healthy; those
    /// that the venue doesn't have any more are skipped. The offset of a receiver whose presumed power has changed, such as by
    /// learning, changes by as much, so that it isn't corrected twice. With other losses, all offsets are estimated anew.
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
        var areLossesSame = true
        for loss in losses { if try reader.double() != loss { areLossesSame = false } }
        for _ in 0..<(try reader.number(UInt32.self)) {
            let index = directory.index(of: try reader.text())
            let stored = try reader.double()
            // An infinite change begins the estimate anew.
            let power = areLossesSame || stored.isNaN ? stored : .infinity
            var state = try State(from: &reader)
            guard let index else { continue }
            state.estimate.follow(power: powers[index], insteadOf: power)
            states[index] = state
        }
        guard reader.isAtEnd else { throw BinaryReader.Failure(offset: reader.offset) }
        begin(with: states, shares: shares)
    }
}

extension ReceiverMonitor.State {
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
            guard abs(mean) <= ReceiverOffsetEstimate.greatestDifference, (0...greatestCount).contains(count) else {
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
