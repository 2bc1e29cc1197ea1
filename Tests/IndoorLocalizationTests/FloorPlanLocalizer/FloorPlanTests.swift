import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Floor plans, their frames, and how they are fetched.
final class FloorPlanTests: XCTestCase {
    private static let map = VenueMap(
        id: 10, name: "ground", level: 0, width: 40, height: 30, widthPixels: 400, heightPixels: 300,
        imagePath: "plans/ground.png",
        georeference: .center(Coordinate(latitude: 52.5, longitude: 13.4), bearing: 30))

    func testMetresPixelsAndCoordinatesAreViewsOfOnePoint() throws {
        let map = Self.map
        let scale = try XCTUnwrap(map.pixelsPerMeter)
        XCTAssertEqual(scale, 10, accuracy: 1e-9)
        for point in [MapPoint(x: 0, y: 0), MapPoint(x: 7.5, y: 14.6), MapPoint(x: 40, y: 30)] {
            let pixel = try XCTUnwrap(map.pixel(at: point))
            XCTAssertEqual(pixel.x, point.x * scale, accuracy: 1, "\(point)")
            XCTAssertEqual(pixel.y, point.y * scale, accuracy: 1, "\(point)")
            let coordinate = try XCTUnwrap(try map.coordinate(at: pixel))
            let back = try XCTUnwrap(try map.pixel(at: coordinate))
            XCTAssertEqual(back.x, pixel.x, accuracy: 1, "\(point)")
            XCTAssertEqual(back.y, pixel.y, accuracy: 1, "\(point)")
        }
    }

    func testCornersAndBearingAreThoseOfThePublishedPlaneModel() throws {
        let map = Self.map
        let plan = FloorPlan(venueID: 1, map: map)
        let (corners, bearing) = (try XCTUnwrap(plan.corners), try XCTUnwrap(plan.bearing))
        XCTAssertEqual(bearing, 30, accuracy: 1e-9)
        // IndoorAtlas' CoordinateTransforms.js: metres by degree at the plan's centre, on the WGS84 ellipsoid.
        let (a, b) = (6_378_137.0, 6_378_137.0 * (1 - 1 / 298.257223563))
        let (latitude, longitude) = (52.5 * Double.pi / 180, 13.4)
        let (x, y): (Double, Double) = (a * cos(latitude), b * sin(latitude))
        let (t, degree): (Double, Double) = ((x * x + y * y).squareRoot(), .pi / 180)
        let east: Double = degree * (a * a / t) * cos(latitude)
        let north: Double = degree * (a * a * b * b / (t * t * t))
        let angle = 30 * Double.pi / 180
        for (corner, place) in zip(corners, [(-20.0, 15.0), (20, 15), (20, -15), (-20, -15)]) {
            let (right, up) = place
            XCTAssertEqual(
                (corner.longitude - longitude) * east, right * cos(angle) + up * sin(angle), accuracy: 0.01)
            XCTAssertEqual((corner.latitude - 52.5) * north, up * cos(angle) - right * sin(angle), accuracy: 0.01)
        }
        XCTAssertNil(FloorPlan(venueID: 1, map: VenueMap(id: 1, name: "a", level: 0, width: 1, height: 1)).corners)
        for pixel in [PixelPoint(x: 0, y: 0), PixelPoint(x: 400, y: 300), PixelPoint(x: 123, y: 45)] {
            let coordinate = try XCTUnwrap(try map.coordinate(at: pixel))
            let back = try XCTUnwrap(try map.pixel(at: coordinate))
            XCTAssertEqual(back.x, pixel.x, accuracy: 0.01)
            XCTAssertEqual(back.y, pixel.y, accuracy: 0.01)
        }
    }

    func testTheVersionHasThreeNumbers() {
        let parts = PackageVersion.current.split(separator: ".", omittingEmptySubsequences: false)
        XCTAssertEqual(parts.count, 3, PackageVersion.current)
        for part in parts { XCTAssertEqual(String(part), Int(part).map(String.init), PackageVersion.current) }
    }

    func testAFixInAnyFrameIsTheSameFix() throws {
        let point = MapPoint(x: 7.5, y: 14.6)
        let coordinate = try XCTUnwrap(try Self.map.coordinate(at: PixelPoint(x: 75, y: 146)))
        let fixes = [
            try Self.map.fix(at: .point(point), radius: 3),
            try Self.map.fix(at: .pixel(PixelPoint(x: 75, y: 146)), radius: 30),
            try Self.map.fix(at: .coordinate(coordinate), radius: 3),
        ]
        for fix in fixes {
            XCTAssertEqual(fix.point.distance(to: point), 0, accuracy: 1e-6)
            XCTAssertEqual(fix.radius, 3, accuracy: 1e-9)
            XCTAssertEqual(fix.mapID, 10)
        }
    }

    func testAnInvalidPlaceIsRejected() {
        let point = MapPoint(x: 1, y: 1)
        let far = FixPlace.coordinate(Coordinate(latitude: 91, longitude: 0))
        let nowhere = FixPlace.point(MapPoint(x: .nan, y: 1))
        let cases: [(FixPlace, Double, FixError)] = [
            (.point(point), 0, .invalidRadius(0)), (.point(point), -1, .invalidRadius(-1)),
            (.point(point), .infinity, .invalidRadius(.infinity)), (far, 3, .invalidPlace(far)),
        ]
        for (place, radius, expected) in cases {
            XCTAssertThrowsError(try Self.map.fix(at: place, radius: radius)) {
                XCTAssertEqual($0 as? FixError, expected)
            }
        }
        XCTAssertThrowsError(try Self.map.fix(at: nowhere, radius: 1))
        var bare = Self.map
        bare.widthPixels = nil
        XCTAssertThrowsError(try bare.fix(at: .pixel(PixelPoint(x: 1, y: 1)), radius: 1)) {
            XCTAssertEqual($0 as? FixError, .noImageSize(10))
        }
    }

    func testTheCoordinateOfAFloorPlanIsTheCentreOfItsMap() throws {
        let plan = FloorPlan(venueID: 1, map: Self.map)
        XCTAssertEqual(plan.mapID, 10)
        XCTAssertEqual(plan.name, "ground")
        let coordinate = try XCTUnwrap(plan.coordinate)
        XCTAssertEqual(coordinate.latitude, 52.5, accuracy: 1e-9)
        XCTAssertEqual(coordinate.longitude, 13.4, accuracy: 1e-9)
        var turned = plan
        turned.map.georeference = .center(Coordinate(latitude: -33.87, longitude: -70.65), bearing: 200)
        let south = try XCTUnwrap(turned.coordinate)
        XCTAssertEqual(south.latitude, -33.87, accuracy: 1e-9, "its bearing turns it about its middle")
        XCTAssertEqual(south.longitude, -70.65, accuracy: 1e-9)
    }

    func testAFloorPlanWithoutAGeoreferenceHasNoCoordinate() {
        var plan = FloorPlan(venueID: 1, map: Self.map)
        plan.map.georeference = nil
        XCTAssertNil(plan.coordinate)
        plan.map.georeference = .center(Coordinate(latitude: 95, longitude: 13.4), bearing: 0)
        XCTAssertNil(plan.coordinate, "no such latitude")
    }

    func testAFetchedFloorPlanHasTheRequestedVenueAndMap() throws {
        let office = SessionStage.office
        for map in office.maps {
            let plan = try XCTUnwrap(office.floorPlan(map.id))
            XCTAssertEqual(plan, FloorPlan(venueID: office.id, map: map))
        }
        XCTAssertNil(office.floorPlan(99))
    }

    func testAFloorPlanIsFetchedWithProgress() async throws {
        let venues = ScriptedVenueSource([SessionStage.office])
        venues.change { script in
            script.progress = [0.25, 0.5, 1]
            script.isHeld = true
        }
        let fetch = venues.fetchFloorPlan(11, of: 1)
        let progress = fetch.progress
        venues.release()
        let plan = try await fetch.value
        XCTAssertEqual(plan, SessionStage.office.floorPlan(11))
        let fractions = try await Bounded.all(progress)
        XCTAssertEqual(fractions, [0.25, 0.5, 1])
        let late = try await Bounded.all(fetch.progress)
        XCTAssertEqual(late, [1], "a progress that is over ends")
    }

    func testACancelledFetchEndsWithThatErrorAtOnce() async throws {
        let venues = ScriptedVenueSource([SessionStage.office])
        venues.change { script in
            script.isHeld = true
            script.answersWhenCancelled = true
        }
        let fetch = venues.fetchFloorPlan(11, of: 1)
        try await Bounded.wait(for: "the request") { try await venues.waitForRequests(1) }
        fetch.cancel()
        await Self.expect(.cancelled, of: fetch)
        XCTAssertEqual(venues.answerCount, 0, "it did not wait for the answer")
        venues.release()
        try await Bounded.wait(for: "the late answer") { try await venues.waitForAnswers(1) }
        await Self.expect(.cancelled, of: fetch)
    }

    func testACancelAfterTheEndChangesNothing() async throws {
        let fetch = ScriptedVenueSource([SessionStage.office]).fetchFloorPlan(11, of: 1)
        let plan = try await fetch.value
        fetch.cancel()
        let again = try await fetch.value
        XCTAssertEqual(plan, again)
    }

    func testAFailedFetchThrowsAnErrorWithTheReason() async throws {
        let venues = ScriptedVenueSource([SessionStage.office])
        await Self.expect(.unknownMap(99, 1), of: venues.fetchFloorPlan(99, of: 1))
        venues.change { $0.packetFailures = [SessionStage.network] }
        await Self.expect(.failed(SessionStage.network), of: venues.fetchFloorPlan(10, of: 1))
    }

    func testAnImageIsFetchedByAReader() async throws {
        let plan = FloorPlan(venueID: 1, map: Self.map)
        let fetch = plan.fetchImage(with: ImageStub(bytes: [1, 2, 3]))
        let bytes = try await fetch.value
        XCTAssertEqual(bytes, [1, 2, 3])
        var bare = plan
        bare.map.imagePath = nil
        await Self.expect(.noImage(10), of: bare.fetchImage(with: ImageStub(bytes: [])))
    }

    func testAFailedReaderEndsTheFetchWithItsError() async {
        let plan = FloorPlan(venueID: 1, map: Self.map)
        await Self.expect(.cancelled, of: plan.fetchImage(with: ImageStub(failure: CancellationError())))
        let network = SessionStage.network
        await Self.expect(.failed(network), of: plan.fetchImage(with: ImageStub(failure: network)))
        struct FullDisk: Error {}
        let fetch = plan.fetchImage(with: ImageStub(failure: FullDisk()))
        do {
            _ = try await fetch.value
            XCTFail("it was fetched")
        } catch {
            XCTAssertTrue("\(error)".contains("FullDisk"), "\(error)")
        }
    }

    func testTheErrorOfAFailedFetchNamesARemedy() async {
        let venues = ScriptedVenueSource([SessionStage.office])
        var bare = FloorPlan(venueID: 1, map: Self.map)
        bare.map.imagePath = nil
        let texts = [
            (await Self.text(of: venues.fetchFloorPlan(99, of: 1)), ["venue 1", "map 99", "ask for one of its maps"]),
            (await Self.text(of: bare.fetchImage(with: ImageStub(bytes: []))), ["map 10", "unpack the packet"]),
        ]
        for (text, parts) in texts {
            for part in parts { XCTAssertTrue(text.contains(part), "'\(part)' is missing in: \(text)") }
        }
        let cancelled = FloorPlan(venueID: 1, map: Self.map).fetchImage(with: ImageStub(failure: CancellationError()))
        let told = await Self.text(of: cancelled)
        XCTAssertEqual(told, "the fetch was cancelled")
    }

    private static func text<Value: Sendable>(of fetch: FloorPlanFetch<Value>) async -> String {
        do {
            _ = try await fetch.value
            return "it was fetched"
        } catch {
            return "\(error)"
        }
    }

    private static func expect<Value: Sendable>(
        _ expected: FloorPlanError, of fetch: FloorPlanFetch<Value>, file: StaticString = #filePath, line: UInt = #line
    ) async {
        do {
            _ = try await fetch.value
            XCTFail("it was fetched", file: file, line: line)
        } catch {
            XCTAssertEqual(error, expected, file: file, line: line)
        }
    }
}

private struct ImageStub: PlanImageReader {
    var bytes: [UInt8] = []
    var failure: (any Error)?

    func image(at path: String, progress: @escaping @Sendable (Double) -> Void) async throws -> [UInt8] {
        XCTAssertEqual(path, "plans/ground.png")
        if let failure { throw failure }
        progress(1)
        return bytes
    }
}
