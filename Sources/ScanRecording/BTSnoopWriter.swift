import BeaconScanning
import IndoorVocabulary

/// A writer of a Bluetooth capture (btsnoop) that btmon and Wireshark read; compressed if the path ends in `.gz`.
///
/// The writer stores each advertisement as the HCI event that a controller would send: an LE Advertising Report if the
/// data fits, otherwise LE Extended Advertising Reports, fragmented if the data is long. It truncates times to
/// microseconds, rounds RSSIs to whole dBm, and stores an address of unknown kind as a public one. The same readings
/// give identical output.
package struct BTSnoopWriter: ~Copyable {
    /// The counts of written, changed and omitted readings so far.
    package struct Tally: Hashable, Sendable {
        /// The number of advertisements written.
        package var advertisements = 0
        /// The number of sightings without advertising data, written as iBeacons.
        package var encodedSightings = 0
        /// The number of those sightings with an unknown measured power, written as `BTSnoopWriter.measuredPower`.
        package var assumedPowers = 0
        /// The number of readings omitted, by kind. A capture cannot contain motion, steps, pressure, GNSS and fixes.
        package var leftOut: [String: Int] = [:]

        /// Creates a tally with all counts at zero.
        package init() {}
    }

    /// The expected RSSI at 1 m in dBm that is written if the measured power is unknown: the default of most beacons.
    package static let measuredPower = -59

    /// The time that replaces an unknown start: 2000-01-01 UTC, in microseconds since 1970-01-01.
    ///
    /// btmon reads no earlier time.
    package static let unknownStart: Int64 = 946_684_800_000_000

    /// The path of the file.
    package let path: String
    /// The packet layout.
    package let datalink: BTSnoopDatalink
    /// The counts of written, changed and omitted readings so far.
    package private(set) var tally = Tally()

    private let output: ArchiveOutput
    private let encoder: BTSnoopRecordEncoder
    /// The offset at which the next record begins.
    private var offset: Int64
    private var latest = Instant.zero
    private var decoder = ReadingDecoder()
    private var isClosed = false

    /// Creates the file, or replaces an existing one, and writes the time of instant zero.
    ///
    /// Only its owner can read a new file (mode 0600), because it reveals where a person was.
    /// - Parameters:
    ///   - datalink: the packet layout.
    ///   - startMicroseconds: the time of instant zero, in microseconds since 1970-01-01 UTC.
    ///   - adapter: the number of the adapter that received the readings; only the Linux monitor format stores it.
    /// - Throws: `.unwritable` if the file can't be created, `.timeOutOfRange` if the format can't store the start.
    package init(
        path: String, datalink: BTSnoopDatalink = .monitor, startMicroseconds: Int64 = unknownStart, adapter: UInt16 = 0
    ) throws(BTSnoopError) {
        try self.init(
            path: path, datalink: datalink, startMicroseconds: startMicroseconds, adapter: adapter, descriptor: nil)
    }

    /// Writes to the open file if a descriptor is given, and leaves it open. Errors show the path as the file's name.
    package init(
        path: String, datalink: BTSnoopDatalink, startMicroseconds: Int64, adapter: UInt16, descriptor: Int32?
    ) throws(BTSnoopError) {
        let encoder = BTSnoopRecordEncoder(datalink: datalink, adapter: adapter, startMicroseconds: startMicroseconds)
        let (output, offset) = try Self.create(path, encoder, descriptor)
        self.init(path: path, datalink: datalink, encoder: encoder, output: output, offset: offset)
    }

    private init(
        path: String, datalink: BTSnoopDatalink, encoder: BTSnoopRecordEncoder, output: ArchiveOutput, offset: Int64
    ) {
        self.path = path
        self.datalink = datalink
        self.encoder = encoder
        self.output = output
        self.offset = offset
    }

    private static func create(
        _ path: String, _ encoder: BTSnoopRecordEncoder, _ descriptor: Int32?
    ) throws(BTSnoopError) -> (ArchiveOutput, Int64) {
        let beginning: [UInt8]
        do throws(BTSnoopError.Problem) { beginning = try encoder.beginning() } catch {
            throw BTSnoopError(file: path, problem: error)
        }
        do throws(ArchiveFailure) {
            let output = try ArchiveOutput(path: path, descriptor: descriptor)
            try output.write(beginning)
            return (output, Int64(beginning.count))
        } catch {
            throw BTSnoopError(file: path, problem: .unwritable(error.reason))
        }
    }

    /// Writes a reading, and counts readings that a capture cannot contain.
    ///
    /// Instants must not decrease and must not be negative.
    ///
    /// A sighting directly after its advertisement is already in the file. The writer stores any other sighting as the
    /// advertisement of an iBeacon, anonymous if the address is unknown.
    /// - Throws: the problem if the format cannot represent the reading, or `.unwritable`. The reading is then not
    ///   written.
    package mutating func write(_ reading: SensorReading) throws(BTSnoopError) {
        guard decoder.decode(reading).content != .rejected(.repetition) else { return }
        switch reading {
        case .advertisement(let advertisement):
            try write(
                advertisement.data, of: advertisement.address, rssi: advertisement.rssi, at: advertisement.instant)
        case .sighting(let sighting): try write(sighting)
        case .motion: tally.leftOut["motion", default: 0] += 1
        case .step: tally.leftOut["step", default: 0] += 1
        case .pressure: tally.leftOut["pressure", default: 0] += 1
        case .gnss: tally.leftOut["gnss", default: 0] += 1
        case .fix: tally.leftOut["fix", default: 0] += 1
        case .range: tally.leftOut["range", default: 0] += 1
        case .radio: tally.leftOut["radio", default: 0] += 1
        }
    }

    /// Makes all written records readable in the file, even if the program is killed later.
    ///
    /// The bytes of a compressed file then depend on when this is called.
    package mutating func checkpoint() throws(BTSnoopError) {
        do throws(ArchiveFailure) { try output.checkpoint() } catch {
            throw BTSnoopError(file: path, problem: .unwritable(error.reason))
        }
    }

    /// Completes the file. The file is only guaranteed to contain the data after this function returns; a second call
    /// does nothing.
    package mutating func close() throws(BTSnoopError) {
        isClosed = true
        do throws(ArchiveFailure) { try output.close() } catch {
            throw BTSnoopError(file: path, problem: .unwritable(error.reason))
        }
    }

    // MARK: - Records

    private mutating func write(_ sighting: Sighting) throws(BTSnoopError) {
        let power = (sighting.measuredPower ?? Double(Self.measuredPower)).rounded()
        // A measured power that is NaN or far out of range becomes a value that the encoder rejects.
        let frame = BeaconFrame(
            format: .iBeacon, beacon: sighting.beacon, measuredPower: Int(exactly: power) ?? 1000)
        let data: [UInt8]
        do throws(BeaconFrame.EncodingError) { data = try frame.advertisingData() } catch {
            throw problem(.unencodable(error))
        }
        try write(data, of: sighting.address, rssi: sighting.rssi, at: sighting.instant)
        tally.encodedSightings += 1
        if sighting.measuredPower == nil { tally.assumedPowers += 1 }
    }

    private mutating func write(
        _ data: [UInt8], of address: DeviceAddress?, rssi: Double, at instant: Instant
    ) throws(BTSnoopError) {
        guard Sighting.isMeasurement(rssi: rssi.rounded()), let rssi = Int8(exactly: rssi.rounded()) else {
            throw problem(.notAMeasurement(rssi: rssi))
        }
        guard data.count <= AdvertisingReassembler.maximumLength else {
            throw problem(.tooMuchData(data.count, limit: AdvertisingReassembler.maximumLength))
        }
        guard instant >= latest else {
            throw problem(.timeWentBackwards(from: latest.seconds, to: instant.seconds))
        }
        var records: [UInt8] = []
        do throws(BTSnoopError.Problem) {
            for event in AdvertisingReport.events(address: address, rssi: rssi, data: data) {
                records += try encoder.record(of: event, at: instant)
            }
        } catch {
            throw problem(error)
        }
        try append(records)
        latest = instant
        tally.advertisements += 1
    }

    private mutating func append(_ bytes: [UInt8]) throws(BTSnoopError) {
        guard !isClosed else { throw BTSnoopError(file: path, problem: .unwritable("the writer is closed")) }
        do throws(ArchiveFailure) { try output.write(bytes) } catch {
            throw BTSnoopError(file: path, problem: .unwritable(error.reason))
        }
        offset += Int64(bytes.count)
    }

    private func problem(_ problem: BTSnoopError.Problem) -> BTSnoopError {
        BTSnoopError(file: path, offset: offset, problem: problem)
    }
}

// Not Sendable: the writer owns an open file, which one task writes at a time.
@available(*, unavailable)
extension BTSnoopWriter: Sendable {}

/// An encoder for the header and the records of a capture.
struct BTSnoopRecordEncoder {
    /// The packet layout.
    let datalink: BTSnoopDatalink
    /// The number of the adapter.
    let adapter: UInt16
    /// The time of instant zero, in microseconds since 1970-01-01 UTC.
    let startMicroseconds: Int64

    /// Returns the file's header and a record at instant zero, the reference for all later instants.
    func beginning() throws(BTSnoopError.Problem) -> [UInt8] {
        let header =
            BTSnoopRecord.identification + Self.bigEndian(UInt64(BTSnoopRecord.version), count: 4)
            + Self.bigEndian(UInt64(datalink.rawValue), count: 4)
        if datalink == .monitor {
            // A new adapter, as the Linux monitor reports it: primary, on a virtual bus, without an address.
            let packet: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0] + Self.padded("hci\(adapter)", to: 8)
            let flags = UInt32(adapter) << 16 | BTSnoopDatalink.Layout.monitorNewIndex
            return try header + record(packet, flags: flags, at: .zero)
        }
        // Command Complete without a command: a controller sends it to report that it is ready.
        return try header + record(of: [0x0E, 0x03, 0x01, 0x00, 0x00], at: .zero)
    }

    /// Returns a record that contains an event.
    ///
    /// - Parameter instant: the time of the record; not before zero.
    func record(of event: [UInt8], at instant: Instant) throws(BTSnoopError.Problem) -> [UInt8] {
        try record(datalink.eventPrefix + event, flags: datalink.eventFlags(adapter: adapter), at: instant)
    }

    private func record(
        _ packet: [UInt8], flags: UInt32, at instant: Instant
    ) throws(BTSnoopError.Problem) -> [UInt8] {
        let (start, isBeyond) = startMicroseconds.addingReportingOverflow(BTSnoopRecord.unixEpoch)
        let (microseconds, isFar) = start.addingReportingOverflow(instant.nanoseconds / 1000)
        guard !isBeyond, !isFar, microseconds >= 0 else { throw .timeOutOfRange }
        // The record contains the whole packet, and no packet was lost.
        let length = Self.bigEndian(UInt64(packet.count), count: 4)
        let drops = Self.bigEndian(0, count: 4)
        return length + length + Self.bigEndian(UInt64(flags), count: 4) + drops
            + Self.bigEndian(UInt64(microseconds), count: 8) + packet
    }

    private static func bigEndian(_ value: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    private static func padded(_ text: String, to count: Int) -> [UInt8] {
        Array((Array(text.utf8) + Array(repeating: 0, count: count)).prefix(count))
    }
}
