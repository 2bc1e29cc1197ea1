// A measurement model of your own: OwnMeasurementModel VENUE RECORDING
//
// The engine asks the model once for each beacon and each cell of a map, and works on the results. This model is path loss
// with a second slope beyond a breakpoint, as corridors have; the program compares it with the model of the package.
// Source of the model: A. J. Goldsmith, *Wireless Communications*, 2005, section 2.6.4.
import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// Prints an error and ends the program.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

struct DualSlope: MeasurementModel {
    /// The distance in metres from which the signal decreases faster.
    let breakpoint = 8.0
    /// The path-loss exponent beyond the breakpoint.
    let farExponent = 3.5
    /// The height in metres of the beacons above the device.
    let height = 1.5

    func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation? {
        // Nothing is expected through a ceiling.
        guard beacon.mapID == mapID else { return nil }
        let planar = beacon.point.distance(to: point)
        let distance = (planar * planar + height * height).squareRoot()
        // The power and the exponent come from the survey, the packet or the settings; they are never nil here.
        let (power, near) = (beacon.measuredPower ?? -59, beacon.pathLossExponent ?? 2)
        var rssi = power - 10 * near * log10(min(distance, breakpoint))
        if distance > breakpoint { rssi -= 10 * farExponent * log10(distance / breakpoint) }
        return SignalExpectation(rssi: rssi, variance: 25)
    }
}

/// Returns the positions of an engine once a second.
func positions(in venue: Venue, _ parts: PositioningParts, of recording: String) throws -> [PositioningEngine.Estimate]
{
    var engine = PositioningEngine(venue: venue, parts: parts, seed: 1)
    var estimates: [PositioningEngine.Estimate] = []
    var next: Instant?
    var reader = try RecordingReader(path: recording)
    while let entry = try reader.next() {
        guard case .measurement(let reading) = entry else { continue }
        let due = next ?? reading.instant.advanced(by: .seconds(1))
        next = due
        if reading.instant >= due {
            engine.advance(to: due)
            if let map = engine.mapProbabilities.max(by: { $0.value < $1.value })?.key,
                let estimate = engine.estimate(on: map)
            {
                estimates.append(estimate)
            }
            next = due.advanced(by: .seconds(1))
        }
        engine.observe(reading)
    }
    return estimates
}

let arguments = CommandLine.arguments.dropFirst()
guard let folder = arguments.first, let recording = arguments.dropFirst().first else {
    fail("usage: OwnMeasurementModel VENUE RECORDING")
}
do {
    var venue = try VenuePacketReader().read(folder).venue
    // A survey would correct both models; here they stand for themselves.
    venue.radioMap = nil
    let standard = try positions(in: venue, PositioningParts(), of: recording)
    let own = try positions(in: venue, PositioningParts(measurement: DualSlope()), of: recording)
    for (one, other) in zip(standard, own) {
        let difference = (one.point.distance(to: other.point) * 10).rounded() / 10
        print(
            "± \((one.radius * 10).rounded() / 10) m, own model ± \((other.radius * 10).rounded() / 10) m,",
            "\(difference) m apart")
    }
} catch {
    fail("OwnMeasurementModel: \(error)")
}
