// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "TestedApp",
    dependencies: [
        // The checkout that contains this example. In your package: .package(path: "../IndoorLocalization")
        .package(name: "IndoorLocalization", path: "../../../../..")
    ],
    targets: [
        .target(
            name: "TestedApp",
            dependencies: [
                .product(name: "IndoorLocalization", package: "IndoorLocalization")
            ]),
        .testTarget(
            name: "TestedAppTests",
            dependencies: [
                "TestedApp",
                .product(name: "IndoorLocalizationTesting", package: "IndoorLocalization"),
                .product(name: "ScanRecording", package: "IndoorLocalization"),
                .product(name: "VenuePackets", package: "IndoorLocalization"),
            ]),
    ]
)
