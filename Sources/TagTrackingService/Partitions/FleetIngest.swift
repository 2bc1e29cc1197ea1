import IndoorVocabulary
import MQTTSharing
import SessionMetrics
import TagTracking

/// The transfer from a broker to the log: it receives the messages of all gateways, and appends the readings of the
/// gateways whose groups this process leases.
///
/// It tracks the clocks of all gateways, so that they are known when it takes over a group.
package final class FleetIngest: Sendable {
    /// An occurrence for the log of the program.
    package enum Report: Sendable {
        /// The broker granted the subscriptions, or refused those of these filters.
        case connected(refused: [String])
        /// The connection to the broker failed or broke.
        case disconnected(MQTTSharingError, pause: Duration)
        /// Messages were lost, because the log was too slow or unreachable for too long.
        case lost(messages: Int)
        /// The clocks of receivers run wrong, or are right again.
        case receivers([ReceiverEvent])
    }

    /// The numbers of readings and messages so far.
    package struct Counts: Hashable, Sendable {
        /// The number of readings that the log has acknowledged.
        package var appended = 0
        /// The number of readings of gateways that other processes lease.
        package var foreign = 0
        /// The number of messages that were lost because the memory for waiting messages was full.
        package var lost = 0
    }

    private struct Ownership: Sendable {
        var gate: LeaseGate
        /// The number of the first message that belongs to this process. Earlier ones belong to the previous owner. Times
        /// of arrival wouldn't tell them apart after the clock was set back.
        var first: UInt64
    }

    /// The time in which messages are collected before they are appended. It delays outputs.
    private static let pause = Duration.milliseconds(20)

    private let input: FleetInput
    private let queue = MessageQueue()
    private let log: any ReadingLog
    private let partitioning: Partitioning
    private let patience: Duration
    private let newRegister: @Sendable () -> TagRegister?
    private let report: @Sendable (Report) -> Void
    private let owned = Guarded<[Int: Ownership]>([:])
    /// The time of the loss of the connection to the broker; nil with a connection.
    private let disconnectedAt = Guarded<ContinuousClock.Instant?>(ContinuousClock.now)
    private let intake: Guarded<TagIntake>
    private let countsSoFar = Guarded(Counts())

    /// Creates an ingest.
    ///
    /// - Parameters:
    ///   - patience: the time without a connection to the broker after which other processes take over the gateways.
    ///   - newRegister: returns a register once, when it is to replace the present one; otherwise nil.
    ///   - report: receives occurrences; it must not block.
    package init(
        input: FleetInput, intake: TagIntake, log: any ReadingLog, partitioning: Partitioning,
        patience: Duration = .seconds(5), newRegister: @escaping @Sendable () -> TagRegister? = { nil },
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.input = input
        self.intake = Guarded(intake)
        self.log = log
        self.partitioning = partitioning
        self.patience = patience
        self.newRegister = newRegister
        self.report = report
    }

    /// The numbers of readings and messages.
    package var counts: Counts { countsSoFar.withLock(\.self) }

    /// Whether messages of gateways can arrive: with a connection to the broker, and shortly after its loss.
    package var canReceive: Bool {
        disconnectedAt.withLock { $0.map { $0.duration(to: .now) < patience } ?? true }
    }

    /// The number of groups of gateways that this process leases.
    package var groups: Int { owned.withLock(\.count) }

    /// The numbers of the intake.
    package var statistics: IntakeStatistics { intake.withLock(\.statistics) }

    /// The metrics of the process.
    package var families: [MetricFamily] {
        let counts = counts
        func counter(_ name: String, _ value: Int, _ help: String) -> MetricFamily {
            MetricFamily("indoorloc_ingest_" + name, .counter, help: help, samples: [.init(.number(Double(value)))])
        }
        return statistics.families + [
            counter("readings", counts.appended, "Readings that the log has acknowledged."),
            counter("foreign_readings", counts.foreign, "Readings of gateways that other processes lease."),
            counter("lost_messages", counts.lost, "Messages that were lost because the log was too slow."),
            MetricFamily(
                "indoorloc_ingest_gateway_groups", .gauge, help: "Groups of gateways that this process leases.",
                samples: [.init(.number(Double(groups)))]),
        ]
    }

    /// The time of arrival of a message: the wall clock.
    package static var now: Instant { FleetClock.wallTime }

    /// Owns a group of gateways until the gate no longer wants it.
    package func own(_ group: Int, _ gate: LeaseGate) async {
        let first = queue.count
        owned.withLock { $0[group] = Ownership(gate: gate, first: first) }
        while gate.isWanted { try? await Task.sleep(for: Self.pause) }
        owned.withLock { $0[group] = nil }
    }

    /// Receives and appends until the task is cancelled.
    ///
    /// - Throws: an error of the log that isn't transient.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.input.run { event in
                    switch event {
                    case .message(let message): self.queue.append(message)
                    case .connected(let refused):
                        self.disconnectedAt.withLock { $0 = nil }
                        self.report(.connected(refused: refused))
                    case .disconnected(let error, let pause):
                        self.disconnectedAt.withLock { $0 = $0 ?? ContinuousClock.now }
                        self.report(.disconnected(error, pause: pause))
                    }
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    try await self.append()
                    try await Task.sleep(for: Self.pause)
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Appends the readings that have arrived. Further messages wait until the log has acknowledged these.
    private func append() async throws {
        let (messages, first, lost) = queue.drain()
        // After the messages, so that one that arrives after a register is decoded with it.
        if let register = newRegister() { intake.withLock { $0.use(register: register) } }
        if lost > 0 {
            countsSoFar.withLock { $0.lost += lost }
            report(.lost(messages: lost))
        }
        let owned = owned.withLock(\.self)
        var readings = DistinctReadings()
        var foreign = 0
        let events = intake.withLock { intake in
            for (number, message) in zip(first..., messages) {
                for reading in intake.readings(of: message) {
                    let owner = owned[partitioning.group(ofGateway: reading.receiver)]
                    if let owner, owner.gate.isWanted, owner.first <= number {
                        readings.append(reading)
                    } else {
                        foreign += 1
                    }
                }
            }
            return intake.drainEvents()
        }
        if !events.isEmpty { report(.receivers(events)) }
        let list = readings.list
        if !list.isEmpty { try await log.append(list) }
        countsSoFar.withLock { counts in
            counts.appended += list.count
            counts.foreign += foreign
        }
    }
}

/// Readings for a log, no two of which are equal: the log would take the second one for the first one that is sent again.
///
/// A message of a gateway without an exact clock can have several advertisements of a tag with the same RSSI.
private struct DistinctReadings {
    private(set) var list: [TagReading] = []
    private var known: Set<TagReading> = []

    /// Appends a reading, a nanosecond later than an equal one.
    mutating func append(_ reading: TagReading) {
        // The parts of the identifier in the log.
        var part = TagReading(
            tag: reading.tag, receiver: reading.receiver, instant: reading.instant, rssi: reading.rssi)
        while !known.insert(part).inserted { part.instant.move(by: .nanoseconds(1)) }
        var distinct = reading
        distinct.instant = part.instant
        list.append(distinct)
    }
}
