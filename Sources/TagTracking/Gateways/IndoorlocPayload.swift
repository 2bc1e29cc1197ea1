import BeaconScanning
import IndoorVocabulary

/// The messages of `indoorloc scan --publish`: the advertisements that a radio received, many in one message.
///
/// A message with numbers in little-endian order has a header of 16 bytes:
///
/// | bytes | content |
/// | --- | --- |
/// | 3 | `ILA` |
/// | 1 | version, 1 |
/// | 8 | the Unix time of instant zero in nanoseconds, as measured when the message was sent; the smallest number if unknown |
/// | 4 | the number of records |
///
/// and for each record:
///
/// | bytes | content |
/// | --- | --- |
/// | 8 | the instant of reception on the monotonic clock of the gateway in nanoseconds, from the kernel if it reports one |
/// | 1 | bits 0 and 1: the address is absent (0), of unknown kind (1), public (2) or random (3); bit 2: a decoded beacon |
/// | 0 or 6 | the address |
/// | 2 | the RSSI in 1/256 dBm, signed |
/// | 2 and more | the AD structures with their length in bytes |
/// | 24 instead | for a decoded beacon: UUID with high and low half, major, minor, and measured power at 1 m as a float; NaN if unknown |
///
/// A source delivers a decoded beacon only if it doesn't deliver the advertisement.
package struct IndoorlocPayload: Hashable, Sendable {
    /// The maximum number of records in a message.
    package static let recordLimit = 10_000
    /// The maximum number of bytes in an advertisement's AD structures (Bluetooth Core Specification 5.4, Vol 6 Part B,
    /// 2.3.4.9).
    package static let dataLimit = 1_650
    private static let magic: [UInt8] = [UInt8(ascii: "I"), UInt8(ascii: "L"), UInt8(ascii: "A")]
    private static let version: UInt8 = 1

    /// The relation of instants to Unix time; nil if unknown. Its ``WallClock/measuredAt`` isn't sent.
    package var wallClock: WallClock?
    /// Advertisements and sightings, in the order of reception.
    package var readings: [SensorReading]

    /// Creates a message. Readings other than advertisements and sightings are ignored.
    package init(wallClock: WallClock? = nil, readings: [SensorReading]) {
        self.wallClock = wallClock.map { WallClock(timeOfZero: $0.timeOfZero) }
        self.readings = readings
    }

    /// Returns the topic of a gateway's advertisements.
    package static func topic(prefix: String, gateway: String) -> String {
        "\(gatewayTopic(prefix: prefix, gateway: gateway))/advertisements"
    }

    /// Returns the topic of a gateway's presence, a retained message with the text `online` or `offline`.
    package static func presenceTopic(prefix: String, gateway: String) -> String {
        "\(gatewayTopic(prefix: prefix, gateway: gateway))/\(presenceLevel)"
    }

    /// The last level of the topic of a gateway's presence.
    package static let presenceLevel = "presence"

    /// Returns the first levels of the topics of a gateway.
    package static func gatewayTopic(prefix: String, gateway: String) -> String { "\(prefix)/gateways/\(gateway)" }

    /// Returns the name of the gateway in the topic of its advertisements; nil for another topic.
    package static func gateway(ofTopic topic: String) -> String? { gateway(ofTopic: topic, "advertisements") }

    private static func gateway(ofTopic topic: String, _ last: String) -> String? {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count >= 3, levels[levels.count - 1] == last, levels[levels.count - 3] == "gateways",
            !levels[levels.count - 2].isEmpty
        else { return nil }
        return String(levels[levels.count - 2])
    }

    /// Returns whether bytes begin like a message of this version or of another one.
    package static func begins(_ payload: [UInt8]) -> Bool { payload.starts(with: magic) }
}

// MARK: Readings

extension IndoorlocPayload {
    /// The range of powers at 1 m that beacons can advertise, in dBm. Eddystone has the lowest one.
    private static let powers = -141.0..<0.0

    /// Returns the readings of a message, in the order of the message, without those whose RSSI isn't a measurement.
    ///
    /// A message about a gateway's presence has no readings.
    ///
    /// - Throws: ``GatewayError`` if the topic isn't one of a gateway, or the message is invalid.
    package static func readings(topic: String, payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        if gateway(ofTopic: topic, "presence") != nil { return [] }
        guard let receiver = gateway(ofTopic: topic) else {
            throw GatewayError(
                format: .indoorloc, offset: nil,
                message: "the topic '\(topic.prefix(100))' doesn't end in gateways/NAME/advertisements")
        }
        let message = try IndoorlocPayload(decoding: payload)
        return message.readings.compactMap { reading in
            switch reading {
            case .advertisement(let advertisement) where !advertisement.hasMeasurement: nil
            case .sighting(let sighting) where !sighting.hasMeasurement: nil
            case .advertisement(let advertisement): message.reading(of: advertisement, receiver)
            case .sighting(let sighting):
                GatewayReading(
                    receiver: receiver, address: sighting.address, beacon: sighting.beacon, rssi: sighting.rssi,
                    time: message.time(at: sighting.instant),
                    measuredPower: sighting.measuredPower.flatMap { powers.contains($0) ? $0 : nil })
            case .motion, .step, .pressure, .gnss, .fix, .range, .radio: nil
            }
        }
    }

    private func reading(of advertisement: Advertisement, _ receiver: String) -> GatewayReading {
        var reading = GatewayReading(
            receiver: receiver, address: advertisement.address,
            name: advertisement.localName.flatMap { NameText.isName($0) ? $0 : nil },
            rssi: advertisement.rssi, time: time(at: advertisement.instant))
        // Malformed data contain no beacon.
        if case .beacon(let frame)? = try? BeaconFrame.decode(advertisement.data.span) {
            reading.beacon = frame.beacon
            reading.measuredPower = frame.measuredPower.map(Double.init)
        }
        return reading
    }

    private func time(at instant: Instant) -> GatewayTime {
        let unix = instant.advanced(by: wallClock?.timeOfZero ?? .zero)
        return GatewayTime(nanoseconds: unix.nanoseconds, resolution: .microseconds(1))
    }
}

// MARK: Bytes

extension IndoorlocPayload {
    private enum Flag {
        static let address: UInt8 = 3
        static let sighting: UInt8 = 4
        static let all: UInt8 = 7
    }

    /// The Unix time of instant zero of a source without a wall clock.
    private static let unknownTime = Int64.min

    /// Returns the bytes of the message, with the first `recordLimit` records.
    package func encoded() -> [UInt8] {
        var writer = BinaryWriter(reservingCapacity: 16 + readings.count * 56)
        var count: UInt32 = 0
        for reading in readings where count < Self.recordLimit {
            switch reading {
            case .advertisement(let advertisement): Self.write(advertisement, to: &writer)
            case .sighting(let sighting): Self.write(sighting, to: &writer)
            case .motion, .step, .pressure, .gnss, .fix, .range, .radio: continue
            }
            count += 1
        }
        var head = BinaryWriter(reservingCapacity: 16 + writer.bytes.count)
        head.write(Self.magic)
        head.write(Self.version)
        head.write(wallClock?.timeOfZero.nanoseconds ?? Self.unknownTime)
        head.write(count)
        head.write(writer.bytes)
        return head.bytes
    }

    private static func write(_ advertisement: Advertisement, to writer: inout BinaryWriter) {
        write(advertisement.instant, advertisement.address, advertisement.rssi, 0, to: &writer)
        let data = advertisement.data.prefix(dataLimit)
        writer.write(UInt16(truncatingIfNeeded: data.count))
        writer.write(Array(data))
    }

    private static func write(_ sighting: Sighting, to writer: inout BinaryWriter) {
        write(sighting.instant, sighting.address, sighting.rssi, Flag.sighting, to: &writer)
        writer.write(sighting.beacon.uuid.high)
        writer.write(sighting.beacon.uuid.low)
        writer.write(sighting.beacon.major)
        writer.write(sighting.beacon.minor)
        writer.write(sighting.measuredPower.map { Float($0) } ?? .nan)
    }

    private static func write(
        _ instant: Instant, _ address: DeviceAddress?, _ rssi: Double, _ flags: UInt8, to writer: inout BinaryWriter
    ) {
        let kind: UInt8 =
            switch address {
            case nil: 0
            case .some(let address):
                switch address.kind {
                case nil: 1
                case .public: 2
                case .random: 3
                }
            }
        writer.write(instant.nanoseconds)
        writer.write(flags | kind)
        if let address {
            writer.write(UInt32(truncatingIfNeeded: address.rawValue))
            writer.write(UInt16(truncatingIfNeeded: address.rawValue >> 32))
        }
        let scaled = (rssi * 256).rounded()
        writer.write(scaled.isNaN ? Int16.max : Int16(min(max(scaled, Double(Int16.min)), Double(Int16.max))))
    }

    /// Decodes a message.
    ///
    /// - Throws: ``GatewayError`` with the offset of the first invalid byte.
    package init(decoding payload: [UInt8]) throws(GatewayError) {
        func failure(_ offset: Int, _ message: String) -> GatewayError {
            GatewayError(format: .indoorloc, offset: offset, message: message)
        }
        guard Self.begins(payload) else { throw failure(0, "expected ILA and the version") }
        guard payload.count > 3, payload[3] == Self.version else {
            throw failure(3, "expected version \(Self.version); use the same release at both ends")
        }
        var reader = BinaryReader(payload)
        var (zero, readings): (Int64, [SensorReading]) = (0, [])
        var count: UInt32 = 0
        do throws(BinaryReader.Failure) {
            _ = try reader.bytes(4)
            zero = try reader.number()
            count = try reader.number()
        } catch { throw failure(error.offset, "expected a head of 16 bytes") }
        guard count <= Self.recordLimit else { throw failure(12, "expected at most \(Self.recordLimit) records") }
        do throws(BinaryReader.Failure) {
            // A record has at least 13 bytes. This limits the memory that a wrong count can reserve.
            readings.reserveCapacity(min(Int(count), payload.count / 13))
            for _ in 0..<count { readings.append(try Self.record(&reader)) }
        } catch { throw failure(error.offset, "the message ends within a record, or has an invalid one") }
        guard reader.isAtEnd else { throw failure(reader.offset, "expected the end of the message") }
        wallClock = zero == Self.unknownTime ? nil : WallClock(timeOfZero: .nanoseconds(zero))
        self.readings = readings
    }

    private static func record(_ reader: inout BinaryReader) throws(BinaryReader.Failure) -> SensorReading {
        let instant = Instant(nanoseconds: try reader.number())
        let place = reader.offset
        let flags = try reader.number(UInt8.self)
        guard flags & ~Flag.all == 0 else { throw BinaryReader.Failure(offset: place) }
        var address: DeviceAddress?
        if flags & Flag.address != 0 {
            let low = try reader.number(UInt32.self)
            let high = try reader.number(UInt16.self)
            let kinds: [DeviceAddress.Kind?] = [nil, nil, .public, .random]
            address = DeviceAddress(
                rawValue: UInt64(high) << 32 | UInt64(low), kind: kinds[Int(flags & Flag.address)])
        }
        let rssi = Double(try reader.number(Int16.self)) / 256
        guard flags & Flag.sighting != 0 else {
            let size = Int(try reader.number(UInt16.self))
            guard let address, size <= dataLimit else { throw BinaryReader.Failure(offset: place) }
            let data = try reader.bytes(size)
            return .advertisement(Advertisement(instant: instant, address: address, rssi: rssi, data: data))
        }
        let uuid = BeaconUUID(high: try reader.number(), low: try reader.number())
        let beacon = BeaconIdentity(uuid: uuid, major: try reader.number(), minor: try reader.number())
        let power = try reader.float()
        return .sighting(
            Sighting(
                instant: instant, beacon: beacon, rssi: rssi, measuredPower: power.isFinite ? Double(power) : nil,
                address: address))
    }
}
