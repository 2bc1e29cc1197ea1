import IndoorLocalizationTesting
import XCTest

final class FixtureFolderTests: XCTestCase {
    func testAMissingFolderIsAnError() {
        XCTAssertThrowsError(try FixtureFolder("no such folder")) { error in
            guard case .missing(let path)? = error as? FixtureFolder.Failure else { return XCTFail("\(error)") }
            XCTAssertTrue(path.hasSuffix("/Fixtures/no such folder"), path)
        }
    }

    func testAFolderWithoutSuchFilesIsAnError() throws {
        let folder = try FixtureFolder("advertisements")
        XCTAssertThrowsError(try folder.files(ending: ".none")) { error in
            XCTAssertEqual(error as? FixtureFolder.Failure, .empty(folder.path))
        }
    }

    func testAMissingFileIsAnError() throws {
        let folder = try FixtureFolder("advertisements/accepted")
        XCTAssertThrowsError(try folder.file("none.txt"))
        XCTAssertNoThrow(try folder.file("ibeacon.txt"))
    }

    func testASourceFileOutsideTheCheckoutFindsNoFixtures() {
        XCTAssertThrowsError(try FixtureFolder("advertisements", file: "/usr/lib/Test.swift")) { error in
            XCTAssertEqual(error as? FixtureFolder.Failure, .noFixtures(above: "/usr/lib/Test.swift"))
        }
    }
}
