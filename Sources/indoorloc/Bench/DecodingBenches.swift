import CBench
import IndoorLocalization
import TagTracking

/// The benchmark of decoding HCI events to sightings, with the events of an hour in a busy building.
struct DecodeBench {
    /// The events in a row, as in a receive buffer.
    let bytes: [UInt8]
    let ranges: [Range<Int>]

    /// Creates events. Most advertisers are beacons, some are other devices, and one in ten events is extended.
    init(advertisements: Int, seed: UInt64 = 0) throws {
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        let other: [UInt8] = [2, 1, 6, 3, 3, 0x0F, 0x18, 8, 9] + Array("headset".utf8)
        for number in 0..<advertisements {
            let beacon = BeaconIdentity(
                uuid: BeaconUUID(high: 0x7C2F_0A10_0000_4000, low: 0x8000_0000_0000_0003), major: 1,
                minor: UInt16(number % 40))
            let format = BeaconFrame.Format.allCases[number % 20 == 0 ? 1 : 0]
            let frame = BeaconFrame(format: format, beacon: beacon, measuredPower: -59)
            var data = number % 5 == 0 ? other : try frame.advertisingData()
            // An advertisement of more than 31 bytes is extended.
            if number % 10 == 1 { data += [6, 8] + Array("lobby".utf8) }
            let events = AdvertisingReport.events(
                address: DeviceAddress(rawValue: UInt64(number % 40 + 1), kind: .random),
                rssi: Int8.random(in: -95 ... -40, using: &generator), data: data)
            for event in events {
                ranges.append(bytes.count..<bytes.count + event.count)
                bytes += event
            }
        }
        self.bytes = bytes
        self.ranges = ranges
    }

    /// A checksum of sightings, to compare both decoders.
    struct Sum: Equatable {
        var count = 0
        var check: UInt64 = 0

        mutating func add(low: UInt64, address: UInt64, minor: UInt16, rssi: Double) {
            count += 1
            check = check &* 31 &+ (low ^ address ^ UInt64(minor) ^ rssi.bitPattern)
        }
    }

    /// Decodes with the package's decoder.
    func decode() -> Sum {
        var sum = Sum()
        var decoder = AdvertisingEventDecoder(content: .sightings)
        let all = bytes.span
        for range in ranges {
            decoder.decode(all.extracting(range), at: .zero) { _ in
            } sighting: { sighting in
                sum.add(
                    low: sighting.beacon.uuid.low, address: sighting.address?.rawValue ?? 0,
                    minor: sighting.beacon.minor, rssi: sighting.rssi)
            }
        }
        return sum
    }

    /// Decodes with the package's decoder, and passes the sightings through an asynchronous stream, as every source
    /// does.
    func decodeThroughStream() async throws -> Sum {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: SensorReading.self, throwing: (any Error).self)
        var decoder = AdvertisingEventDecoder(content: .sightings)
        let all = bytes.span
        for range in ranges {
            decoder.decode(all.extracting(range), at: .zero) { _ in
            } sighting: { sighting in
                continuation.yield(.sighting(sighting))
            }
        }
        continuation.finish()
        var sum = Sum()
        for try await reading in stream {
            guard case .sighting(let sighting) = reading else { continue }
            sum.add(
                low: sighting.beacon.uuid.low, address: sighting.address?.rawValue ?? 0, minor: sighting.beacon.minor,
                rssi: sighting.rssi)
        }
        return sum
    }

    /// Decodes in plain C.
    func decodeInC() -> Sum {
        var sum = Sum()
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            withUnsafeTemporaryAllocation(of: cbench_sighting.self, capacity: 32) { sightings in
                for range in ranges {
                    let count = cbench_decode(base + range.lowerBound, range.count, sightings.baseAddress, 32)
                    for index in 0..<max(0, count) {
                        let found = sightings[index]
                        sum.add(
                            low: found.uuid_low, address: found.address, minor: found.minor, rssi: Double(found.rssi))
                    }
                }
            }
        }
        return sum
    }
}

/// The benchmark that decodes a gateway's messages about an iBeacon or a sensor. Each message has a different RSSI.
struct GatewayBench {
    /// The formats of gateways.
    enum Gateway: String, CaseIterable {
        case espresense, openMQTTGateway, ruuvi
    }

    let topic: String
    let payloads: [[UInt8]]

    /// Creates messages.
    init(_ gateway: Gateway, messages: Int) {
        let uuid = "7c2f0a10-0000-4000-8000-000000000003"
        let digits = "7c2f0a1000004000800000000000000300010002c5"
        topic =
            switch gateway {
            case .espresense: "espresense/devices/iBeacon:\(uuid)-1-2/kitchen"
            case .openMQTTGateway: "home/OpenMQTTGateway/BTtoMQTT/6087574C9BC2"
            case .ruuvi: "ruuvi/C8:25:2D:8E:9C:2C/C6:A5:11:22:33:44"
            }
        payloads = (0..<messages).map { number in
            let rssi = -40 - number % 60
            let text =
                switch gateway {
                case .espresense:
                    #"{"mac":"aabbccddeeff","id":"iBeacon:\#(uuid)-1-2","name":"Cart","rssi@1m":-59,"rssi":\#(rssi).25,"#
                        + #""rxAdj":0,"rssiVar":2.21,"distance":3.52,"var":0.41,"close":true,"int":312,"batt":90}"#
                case .openMQTTGateway:
                    #"{"id":"60:87:57:4C:9B:C2","mac_type":1,"adv_type":0,"name":"Cart","#
                        + #""manufacturerdata":"4c000215\#(digits)","rssi":\#(rssi),"txpower":-59,"distance":7.85288,"#
                        + #""brand":"GENERIC","model":"iBeacon","model_id":"IBEACON","mfid":"4c00","#
                        + #""uuid":"\#(digits.prefix(32))","major":1,"minor":2}"#
                case .ruuvi:
                    #"{"gw_mac":"C8:25:2D:8E:9C:2C","rssi":\#(rssi),"aoa":[],"gwts":1653668027,"ts":1653668026,"#
                        + #""data":"0201061BFF9904050FA04E20C3500000000003E8B0B6050001C6A511223344","coords":""}"#
                }
            return Array(text.utf8)
        }
    }

    /// Decodes all messages, and returns the sum of their RSSI in dBm; nil if a message doesn't have one reading.
    func decode() -> Double? {
        let decoder = GatewayDecoder()
        var sum = 0.0
        for payload in payloads {
            guard let readings = try? decoder.readings(topic: topic, payload: payload), readings.count == 1 else {
                return nil
            }
            sum += readings[0].rssi
        }
        return sum
    }
}
