import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class BodyShadowingTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let seed: UInt64 = 31
    private static let hall = 30.0

    override func setUp() { print("seed \(Self.seed)") }

    func testTheEstimateFindsTheVarianceOfBodyShadowing() throws {
        // A vector of 4 dB in a direction of its own at each place: 8 dB² along each axis.
        let body = try XCTUnwrap(Self.shadowing(amplitude: 4))
        XCTAssertEqual(body.body, 8, accuracy: 0.3 * 8)
        XCTAssertEqual(body.noise, 4, accuracy: 0.3 * 4)
    }

    func testTheMinimumNumberOfBeaconsGivesTheSameVariance() throws {
        // Their mean, which is taken from each, holds a fourth of the noise.
        let body = try XCTUnwrap(Self.shadowing(amplitude: 4, beacons: BodyShadowing.fewest, places: 1000))
        XCTAssertEqual(body.body, 8, accuracy: 0.15 * 8)
        XCTAssertEqual(body.noise, 4, accuracy: 0.15 * 4)
    }

    func testWithoutBodyShadowingTheVarianceIsZero() throws {
        let body = try XCTUnwrap(Self.shadowing(amplitude: 0))
        XCTAssertLessThan(body.body, 0.3)
        XCTAssertEqual(body.noise, 4, accuracy: 0.3 * 4)
    }

    func testACommonOffsetOfAPlaceIsNotBodyShadowing() throws {
        let body = try XCTUnwrap(Self.shadowing(amplitude: 0, common: 10))
        XCTAssertLessThan(body.body, 0.3)
        XCTAssertEqual(body.noise, 4, accuracy: 0.3 * 4)
    }

    func testFewerThanFourBeaconsGiveNoEstimate() {
        XCTAssertNil(Self.shadowing(amplitude: 4, beacons: 3))
        XCTAssertNotNil(Self.shadowing(amplitude: 4, beacons: 4))
    }

    func testTheEstimateIgnoresBeaconsOfOtherMaps() {
        XCTAssertNil(Self.shadowing(amplitude: 4, map: Stage.gallery))
    }

    func testTooFewPlacesGiveNoEstimate() {
        // 17 beacons beyond three at each of two places.
        XCTAssertNil(Self.shadowing(amplitude: 4, places: 2))
        XCTAssertNotNil(Self.shadowing(amplitude: 4, places: 3))
    }

    func testBeaconsAtTheDevicesPositionHaveNoDirection() {
        // All at one place, and the place there: nothing tells a body from noise.
        let beacons = (0..<20).map { Self.beacon($0, at: MapPoint(x: 5, y: 5), on: Stage.hall) }
        let places = (0..<10).map { _ in Self.place(MapPoint(x: 5, y: 5)) }
        let residuals = places.indices.flatMap { place in
            beacons.indices.map { ShadowingRegression.Residual(place: place, beacon: $0, value: 1, variance: 4) }
        }
        XCTAssertNil(Self.shadowing(residuals, beacons, places))
    }

    /// What 300 places hear of beacons around them, with a noise of 2 dB, a body's vector of that many decibels, and
    /// something common to all beacons of a place.
    private static func shadowing(
        amplitude: Double, common: Double = 0, beacons count: Int = 20, places placeCount: Int = 300,
        map: MapID = Stage.hall
    ) -> BodyShadowing? {
        var generator = SeededGenerator(seed: seed)
        let beacons = (0..<count).map { beacon($0, at: point(&generator), on: map) }
        var residuals: [ShadowingRegression.Residual] = []
        let places = (0..<placeCount).map { index in
            let place = place(point(&generator))
            let angle = 2 * Double.pi * generator.uniform()
            let offset = common * generator.normal()
            for (number, beacon) in beacons.enumerated() {
                let direction = (beacon.point - place.point) * (1 / beacon.point.distance(to: place.point))
                let body = amplitude * (cos(angle) * direction.x + sin(angle) * direction.y)
                residuals.append(
                    ShadowingRegression.Residual(
                        place: index, beacon: number, value: body + offset + 2 * generator.normal(), variance: 4))
            }
            return place
        }
        return shadowing(residuals, beacons, places)
    }

    private static func shadowing(
        _ residuals: [ShadowingRegression.Residual], _ beacons: [RadioMap.Beacon], _ places: [RadioMap.Fingerprint]
    ) -> BodyShadowing? {
        BodyShadowing(
            residuals, beacons: beacons,
            places: SurveyedPlaces(places, recordings: Array(places.indices)))
    }

    private static func point(_ generator: inout SeededGenerator) -> MapPoint {
        MapPoint(x: hall * generator.uniform(), y: hall * generator.uniform())
    }

    private static func beacon(_ index: Int, at point: MapPoint, on map: MapID) -> RadioMap.Beacon {
        RadioMap.Beacon(identity: Stage.identity(index), mapID: map, point: point, power: -60)
    }

    private static func place(_ point: MapPoint) -> RadioMap.Fingerprint {
        RadioMap.Fingerprint(mapID: Stage.hall, point: point, duration: 4, readings: [])
    }
}
