import IndoorLocalization
import XCTest

final class PluginStreamsTests: XCTestCase {
    func testTheStreamsHaveTheValuesOfTheReference() {
        let values: [(PluginStreams, Int)] = [
            (.nothing, 0), (.positions, 1), (.networkPositions, 2), (.networkData, 4), (.pluginData, 8), (.errors, 16),
            (.all, 31),
        ]
        for (streams, value) in values { XCTAssertEqual(streams.rawValue, value) }
    }

    func testExclusiveOrRemovesAStreamFromAll() {
        XCTAssertEqual(.all ^ .pluginData, [.positions, .networkPositions, .networkData, .errors] as PluginStreams)
        XCTAssertEqual((PluginStreams.all ^ .pluginData).rawValue, 23)
        XCTAssertEqual(PluginStreams.all ^ .all, .nothing)
        XCTAssertEqual(PluginStreams.nothing ^ .errors, .errors)
        XCTAssertEqual(PluginStreams.positions | .errors, [.positions, .errors])
        XCTAssertEqual((PluginStreams.positions | .errors).rawValue, 17)
        XCTAssertEqual(PluginStreams.all.subtracting(.pluginData), .all ^ .pluginData)
    }
}
