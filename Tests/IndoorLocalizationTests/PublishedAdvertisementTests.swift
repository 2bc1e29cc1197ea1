import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Compares decoding with the results that the tests of two other decoders state for the same bytes.
///
/// A fixture with the field `here` describes a difference that is intended: the result of this package.
final class PublishedAdvertisementTests: XCTestCase {
    private func fixtures() throws -> [AdvertisementFixture] {
        try FixtureFolder("advertisements/published").files().map(AdvertisementFixture.init(path:))
    }

    /// What a decoder finds in advertising data, by the names of the fixtures' fields.
    private func found(in data: [UInt8]) -> [String: String] {
        do throws(AdvertisementError) {
            switch try BeaconFrame.decode(data.span) {
            case .beacon(let frame): return fields(of: frame)
            case .notABeacon(.otherEddystoneFrame(let type?)): return ["found": "none", "eddystoneFrame": String(type)]
            case .notABeacon(.otherServiceData(let service?)): return ["found": "none", "service": String(service)]
            case .notABeacon: return ["found": "none"]
            }
        } catch {
            return ["found": "none", "here": error.description]
        }
    }

    private func fields(of frame: BeaconFrame) -> [String: String] {
        let uuid = frame.beacon.uuid.description
        let digits = uuid.filter { $0 != "-" }
        return [
            "here": frame.format.rawValue, "format": frame.format.rawValue, "uuid": uuid,
            "major": String(frame.beacon.major), "minor": String(frame.beacon.minor),
            "measuredPower": frame.measuredPower.map(String.init) ?? "none", "namespace": String(digits.prefix(20)),
            "instance": String(digits.dropFirst(20)),
            "powerAtZero": frame.measuredPower.map { String($0 + 41) } ?? "none",
        ]
    }

    func testDecodingAgreesWithOtherDecodersButForTheListedDifferences() throws {
        let ofLayouts = ["layout", "company", "identifiers", "identifierLength"]
        var differences: [String] = []
        for fixture in try fixtures() where fixture.fields["found"] != "layout" {
            let found = found(in: fixture.data)
            let stated = fixture.fields.filter { !ofLayouts.contains($0.key) }
            if let here = stated["here"] {
                XCTAssertEqual(found["here"], here, fixture.path)
                let isDifferent = stated.contains { $0.key != "here" && found[$0.key] != $0.value }
                XCTAssertTrue(isDifferent, "\(fixture.path) states no difference any more")
                differences.append(fixture.path)
                continue
            }
            for (field, value) in stated { XCTAssertEqual(found[field], value, "\(fixture.path): \(field)") }
        }
        XCTAssertEqual(differences.count, 4, "\(differences)")
    }

    func testLayoutsAgreeWithTheLibraryThatDefinesThem() throws {
        var compared = 0
        for fixture in try fixtures() {
            let (path, fields) = (fixture.path, fixture.fields)
            guard let layout = fields["layout"] else { continue }
            compared += 1
            let frame = try? BeaconLayout(layout).decode(fixture.data.span)
            guard fields["found"] != "none", fields["here"] == nil else {
                XCTAssertNil(frame, path)
                continue
            }
            guard let frame else {
                XCTFail("\(path): no frame")
                continue
            }
            if let company = fields["company"] { XCTAssertEqual(frame.company.map(String.init), company, path) }
            if let power = fields["measuredPower"] {
                XCTAssertEqual(frame.measuredPower.map(String.init), power, path)
            }
            if let uuid = fields["uuid"] {
                let identity = "\(uuid)/\(fields["major"] ?? "")/\(fields["minor"] ?? "")"
                XCTAssertEqual(frame.identity?.description, identity, path)
            }
            if let identifiers = fields["identifiers"] {
                let hexadecimal = frame.identifiers.map {
                    $0.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
                }
                XCTAssertEqual(hexadecimal.joined(separator: " ").uppercased(), identifiers, path)
            }
            if let length = fields["identifierLength"] {
                XCTAssertEqual(frame.identifiers.first.map { String($0.count) }, length, path)
            }
        }
        XCTAssertEqual(compared, 15)
    }
}
