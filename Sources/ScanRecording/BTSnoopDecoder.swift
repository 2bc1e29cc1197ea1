import BeaconScanning
import IndoorVocabulary

/// A decoder that turns the records of a capture into readings.
package struct BTSnoopDecoder {
    /// The counts of records and readings so far.
    package private(set) var tally = BTSnoopReader.Tally()
    /// The packet layout; nil before the header.
    package private(set) var datalink: BTSnoopDatalink?

    private let adapter: UInt16?
    /// One reassembler for each adapter, because two adapters can receive the same advertiser.
    private var reassemblers: [UInt16: AdvertisingReassembler] = [:]
    private var first: Int64?
    private var latest = Instant.zero
    /// The readings of the latest record; those before index `given` have been returned.
    private var readings: [SensorReading] = []
    private var given = 0
    private var problem: BTSnoopError.Problem?

    /// Creates a decoder that expects the header.
    ///
    /// - Parameter adapter: the adapter whose advertisements are decoded; nil decodes those of all adapters.
    package init(adapter: UInt16? = nil) { self.adapter = adapter }

    /// The time of the first record, in microseconds since 1970-01-01 UTC.
    package var startMicroseconds: Int64? { first.map { $0.subtractingReportingOverflow(BTSnoopRecord.unixEpoch).0 } }

    /// Sets the packet layout that the header states.
    package mutating func begin(_ datalink: BTSnoopDatalink) { self.datalink = datalink }

    /// Returns the next reading of the records so far.
    package mutating func next() -> SensorReading? {
        guard given < readings.count else { return nil }
        given += 1
        return readings[given - 1]
    }

    /// Returns and clears the problem of the latest record. The readings before it are valid.
    package mutating func consumeProblem() -> BTSnoopError.Problem? { problem.take() }

    /// Decodes a record. All readings of the record before it must have been returned.
    package mutating func decode(_ record: BTSnoopRecord, of bytes: Span<UInt8>) {
        readings.removeAll(keepingCapacity: true)
        given = 0
        tally.records += 1
        if record.drops > tally.lostPackets {
            tally.lostPackets = Int(record.drops)
            // After lost packets, the next packet may not continue the stored fragments.
            forgetFragments()
        }
        if first == nil { first = record.microseconds }
        do throws(BTSnoopError.Problem) {
            guard record.data.count <= record.originalLength else {
                throw .moreThanOriginal(included: record.data.count, original: record.originalLength)
            }
            guard let (adapter, event) = datalink?.event(in: record, of: bytes) else { return }
            try decode(bytes.extracting(event), of: adapter, at: record.microseconds)
        } catch {
            problem = error
        }
    }

    /// Counts an invalid record.
    package mutating func skip(_ error: BTSnoopError) {
        tally.skippedRecords += 1
        if tally.errors.count < BTSnoopReader.Tally.maximumErrors { tally.errors.append(error) }
    }

    /// Discards the advertisements that are still incomplete at the end of the capture.
    package mutating func finish() { forgetFragments() }

    private mutating func forgetFragments() {
        for (_, reassembler) in reassemblers { tally.unfinishedAdvertisements += reassembler.pending }
        reassemblers.removeAll()
    }

    private mutating func decode(
        _ event: Span<UInt8>, of adapter: UInt16, at microseconds: Int64
    ) throws(BTSnoopError.Problem) {
        var reports = AdvertisingReportIterator()
        var instant: Instant?
        do throws(AdvertisingReportError) {
            while let report = try reports.next(in: event) {
                tally.adapters.insert(adapter)
                guard self.adapter == nil || self.adapter == adapter else { continue }
                if instant == nil {
                    switch passTime(to: microseconds) {
                    case .success(let passed): instant = passed
                    case .failure(let late):
                        problem = late
                        return
                    }
                }
                handle(report, of: event, from: adapter, at: instant ?? latest)
            }
        } catch {
            throw .malformedEvent(error)
        }
    }

    private mutating func handle(
        _ report: AdvertisingReport, of event: Span<UInt8>, from adapter: UInt16, at instant: Instant
    ) {
        let before = reassemblers[adapter]?.abandoned ?? 0
        let whole = reassemblers[adapter, default: AdvertisingReassembler()].add(report, of: event)
        tally.unfinishedAdvertisements += (reassemblers[adapter]?.abandoned ?? 0) - before
        guard let whole else { return }
        guard let reading = whole.reading(at: instant) else {
            if report.hasMeasurement {
                tally.droppedAnonymous += 1
            } else {
                tally.droppedNotMeasurements += 1
            }
            return
        }
        if whole.isTruncated { tally.truncatedAdvertisements += 1 }
        if report.properties.contains(.scanResponse) { tally.scanResponses += 1 }
        readings.append(reading)
    }

    /// Advances the time to that of a record, which must not be earlier than the record before it.
    private mutating func passTime(to microseconds: Int64) -> Result<Instant, BTSnoopError.Problem> {
        let (elapsed, isBeyond) = microseconds.subtractingReportingOverflow(first ?? microseconds)
        let (nanoseconds, isFar) = elapsed.multipliedReportingOverflow(by: 1000)
        guard !isBeyond, !isFar else { return .failure(.timeOutOfRange) }
        let instant = Instant(nanoseconds: nanoseconds)
        guard instant >= latest else {
            return .failure(.timeWentBackwards(from: latest.seconds, to: instant.seconds))
        }
        latest = instant
        return .success(instant)
    }
}
