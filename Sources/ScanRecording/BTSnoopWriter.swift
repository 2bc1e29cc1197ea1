import BeaconScanning
import IndoorVocabulary

/// Writes advertisements as a Bluetooth capture (btsnoop) that btmon and Wireshark read; gzip if the path ends in `.gz`.
///
/// Each is an HCI event as a controller would send it: an LE Advertising Report where the data fit, else LE Extended
/// Advertising Reports, in fragments if they are long. Times are cut to microseconds, and RSSIs rounded to whole dBm. An
/// address of unknown kind becomes a public one. The same readings give the same bytes.
public struct BTSnoopWriter: ~Copyable {
    /// What was changed or left out so far.
    public struct Tally: Hashable, Sendable {
        /// Advertisements that were written.
        public var advertisements = 0
        /// Sightings without advertising data, which were written as iBeacons.
        public var encodedSightings = 0
        /// Sightings among those whose measured power is unknown, and was written as `BTSnoopWriter.measuredPower`.
        public var assumedPowers = 0
        /// Inertial samples, steps, pressure, satellite positions and fixes, which have no place in a capture.
        public var leftOut: [String: Int] = [:]

        /// Creates a tally of nothing.
        public init() {}
    }

    /// The signal strength at 1 m in dBm that is written for a beacon where it is unknown: what most are sold with.
    public static let measuredPower = -59

    /// What stands for an unknown start: 2000-01-01 UTC, in microseconds since 1970-01-01. btmon reads no earlier time.
    public static let unknownStart: Int64 = 946_684_800_000_000

    /// Path of the file.
    public let path: String
    /// How packets are laid out.
    public let datalink: BTSnoopDatalink
    /// What was changed or left out so far.
    public private(set) var tally = Tally()

    private let output: ArchiveOutput
    private let encoder: BTSnoopRecordEncoder
    /// Where the next record begins.
    private var offset: Int64
    private var latest = Instant.zero
    private var unfolding = AdvertisementUnfolding()
    private var isClosed = false

    /// Creates the file, or replaces the one that is there, and writes what the instant zero is.
    ///
    /// A new file is for its owner alone to read (mode 0600), as it tells where somebody was.
    /// - Parameters:
    ///   - datalink: how packets are laid out.
    ///   - startMicroseconds: when the instant zero was, in microseconds since 1970-01-01 UTC.
    ///   - adapter: the number of the adapter that heard it all; only the Linux monitor has a place for it.
    /// - Throws: `.unwritable` if the file can't be created, `.timeOutOfRange` if the format can't hold the start.
    public init(
        path: String, datalink: BTSnoopDatalink = .monitor, startMicroseconds: Int64 = unknownStart, adapter: UInt16 = 0
    ) throws(BTSnoopError) {
        try self.init(
            path: path, datalink: datalink, startMicroseconds: startMicroseconds, adapter: adapter, descriptor: nil)
    }

    /// Writes to an open file, which stays open, if one is given. The path is its name in errors.
    package init(
        path: String, datalink: BTSnoopDatalink, startMicroseconds: Int64, adapter: UInt16, descriptor: Int32?
    ) throws(BTSnoopError) {
        self.path = path
        self.datalink = datalink
        encoder = BTSnoopRecordEncoder(datalink: datalink, adapter: adapter, startMicroseconds: startMicroseconds)
        (output, offset) = try Self.create(path, encoder, descriptor)
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

    /// Writes a reading; instants must not go back, nor before zero. What has no place in a capture is counted.
    ///
    /// A sighting that stands right behind its advertisement is in the file already. Any other one is written as an
    /// iBeacon's advertisement, an anonymous one if the address is unknown.
    /// - Throws: what has no place in the format, or `.unwritable`. The reading is then not in the file.
    public mutating func write(_ reading: SensorReading) throws(BTSnoopError) {
        switch unfolding.unfold(reading).reading {
        case .advertisement(let advertisement):
            try write(
                advertisement.data, of: advertisement.address, rssi: advertisement.rssi, at: advertisement.instant)
        case .sighting(let sighting): try write(sighting)
        case .motion: tally.leftOut["motion", default: 0] += 1
        case .step: tally.leftOut["step", default: 0] += 1
        case .pressure: tally.leftOut["pressure", default: 0] += 1
        case .gnss: tally.leftOut["gnss", default: 0] += 1
        case .fix: tally.leftOut["fix", default: 0] += 1
        case .radio: tally.leftOut["radio", default: 0] += 1
        case nil: return
        }
    }

    /// Completes the file; only after this has returned is all of it sure to be there. A second call does nothing.
    public mutating func close() throws(BTSnoopError) {
        isClosed = true
        do throws(ArchiveFailure) { try output.close() } catch {
            throw BTSnoopError(file: path, problem: .unwritable(error.reason))
        }
    }

    // MARK: - Records

    private mutating func write(_ sighting: Sighting) throws(BTSnoopError) {
        let power = (sighting.measuredPower ?? Double(Self.measuredPower)).rounded()
        // What is no number, or a huge one, becomes one that encoding refuses.
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

// Not Sendable: it owns an open file, which one task writes at a time.
@available(*, unavailable)
extension BTSnoopWriter: Sendable {}
